import { phraseIn, t } from "./translate";

/** Why something did not work, in words: those of the error, else that the server cannot be reached. */
export function failureOf(error: unknown): string {
  return error instanceof Error && error.message ? headed(error, error.message) : t("error.unreachable");
}

/** The server's sentence on an error, which is English, after its kind in the language of the page: an `ApiError` has that as its detail's title. */
export function headed(error: Error, sentence: string): string {
  const { detail } = error as { detail?: { title?: string } };
  const title = detail === undefined ? undefined : phraseIn(detail.title ?? "");
  return title === undefined ? sentence : `${title}：${sentence}`;
}
