import type { Mark } from "./marks";

/** Which marks are wanted: kinds that are left out, and words of which a subject must have all, and none of those with a "-". */
export interface MarkFilter {
  /** `lane/kind`. */
  readonly hidden: ReadonlySet<string>;
  readonly words: string;
}

export const EVERYTHING: MarkFilter = { hidden: new Set(), words: "" };

export function isWanted(filter: MarkFilter): (mark: Mark) => boolean {
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

/** The filter with these kinds left out, or taken in again. */
export function withKinds(filter: MarkFilter, kinds: readonly string[], shown: boolean): MarkFilter {
  const hidden = new Set(filter.hidden);
  for (const kind of kinds)
    if (shown) hidden.delete(kind);
    else hidden.add(kind);
  return { ...filter, hidden };
}
