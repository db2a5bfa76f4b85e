import { t } from "./translate";

/** Why something did not work, in words: those of the error, else that the server cannot be reached. */
export function failureOf(error: unknown): string {
  return (error instanceof Error && error.message) || t("error.unreachable");
}
