import { phraseIn, t } from "./translate";

/** Why a request failed: the error's text, or that the server cannot be reached. */
export function failureOf(error: unknown): string {
  return error instanceof Error && error.message ? withTitle(error, error.message) : t("error.unreachable");
}

/** The server's English sentence, after the translated title of the problem: an `ApiError` has the title. */
export function withTitle(error: Error, sentence: string): string {
  const { detail } = error as { detail?: { title?: string } };
  const title = detail === undefined ? undefined : phraseIn(detail.title ?? "");
  return title === undefined ? sentence : `${title}：${sentence}`;
}
