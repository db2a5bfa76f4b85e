/** A part of the whole that StackedBar draws. */
export interface BarPart<Key extends string> {
  key: Key;
  count: number;
  tone: "good" | "waits" | "turnedAway" | "turnedAwayByOthers" | "unresolvable" | "impossible" | "unknown";
  title: string;
  help: string;
  chosen: boolean;
  /** Attributes by which tests and scripts find its button. */
  data: Record<`data-${string}`, string | number>;
}
