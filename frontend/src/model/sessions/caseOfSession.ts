/** Recognizes sessions of everyday cases by their names. */
import { isNumbered } from "./distinctName";

/** The case of which a session called `session` was opened, by its English or its translated title; undefined: none. */
export function caseOf<T extends { title: string }>(session: string, cases: readonly T[], translated: (title: string) => string): T | undefined {
  return cases.find(({ title }) => isNumbered(session, title) || isNumbered(session, translated(title)));
}
