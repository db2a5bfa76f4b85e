import type { Mark } from "./marks";
import { textFilter } from "../text/textFilter";

/** Selects marks: hidden kinds, and words that a subject must contain, or with a leading "-" must not contain. */
export interface MarkFilter {
  /** `lane/kind`. */
  readonly hidden: ReadonlySet<string>;
  readonly words: string;
}

export const NO_FILTER: MarkFilter = { hidden: new Set(), words: "" };

export function matches(filter: MarkFilter): (mark: Mark) => boolean {
  const { hidden } = filter;
  const hasWords = textFilter(filter.words);
  if (!hidden.size && !filter.words.trim()) return () => true;
  return (mark) => !hidden.has(`${mark.lane}/${mark.kind}`) && hasWords(mark.subject);
}

/** The filter with these kinds hidden, or shown again. */
export function withKinds(filter: MarkFilter, kinds: readonly string[], shown: boolean): MarkFilter {
  const hidden = new Set(filter.hidden);
  for (const kind of kinds)
    if (shown) hidden.delete(kind);
    else hidden.add(kind);
  return { ...filter, hidden };
}
