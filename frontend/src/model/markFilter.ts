import type { Mark } from "./marks";

/** Selects marks: hidden kinds, and words that a subject must contain, or with a leading "-" must not contain. */
export interface MarkFilter {
  /** `lane/kind`. */
  readonly hidden: ReadonlySet<string>;
  readonly words: string;
}

export const NO_FILTER: MarkFilter = { hidden: new Set(), words: "" };

export function matches(filter: MarkFilter): (mark: Mark) => boolean {
  const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  const excluded = words.filter((word) => word.startsWith("-") && word.length > 1).map((word) => word.slice(1));
  const included = words.filter((word) => !word.startsWith("-"));
  const { hidden } = filter;
  if (!hidden.size && !words.length) return () => true;
  return (mark) => {
    if (hidden.has(`${mark.lane}/${mark.kind}`)) return false;
    if (!words.length) return true;
    const subject = mark.subject.toLowerCase();
    return included.every((word) => subject.includes(word)) && !excluded.some((word) => subject.includes(word));
  };
}

/** The filter with these kinds hidden, or shown again. */
export function withKinds(filter: MarkFilter, kinds: readonly string[], shown: boolean): MarkFilter {
  const hidden = new Set(filter.hidden);
  for (const kind of kinds)
    if (shown) hidden.delete(kind);
    else hidden.add(kind);
  return { ...filter, hidden };
}
