/** The lesson that the page offers to newcomers, in the simple view. */
export const FIRST_LESSON = "one-pod-end-to-end";

/** What explains a session's page to newcomers, in order: the way of a pod through queue, Filter and Score; the scores; assumed and bound. */
export const STARTER_PATH: readonly string[] = [FIRST_LESSON, "weights-and-ties", "only-in-memory"];

/** The position of a session on the path of its lesson, by event numbers alone, because the engine is deterministic. */
export interface PathStop {
  id: string;
  arrived: number;
  revealed: number;
}

/**
 * `ahead`: not reached yet; `there`: reached, and its question is open; `revealed`: answered; `past`: a later stop was reached;
 * `left`: a command that is not the lesson's was sent.
 */
export type StopState = "ahead" | "there" | "revealed" | "past" | "left";

/** The stop at which to continue a session after `event`: the first that is not passed, else the last. */
export function stopIndexAt(stops: readonly PathStop[], event: number): number {
  const ahead = stops.findIndex((stop) => stop.revealed >= event);
  return ahead < 0 ? stops.length - 1 : ahead;
}

/** The state of a stop in a session after `event`. */
export function stopState(stops: readonly PathStop[], index: number, event: number): StopState {
  const stop = stops[index];
  if (!stop || event < stop.arrived) return "ahead";
  if (!stops.some(({ arrived, revealed }) => event === arrived || event === revealed)) return "left";
  if (event > stop.revealed) return "past";
  return event === stop.revealed ? "revealed" : "there";
}

/** Whether an answer equals the engine's: numbers by value, names in any order. */
export function isRight(answer: string | number | readonly string[], value: unknown): boolean {
  if (Array.isArray(value)) {
    const expected = new Set(value.map(String));
    const named = new Set(typeof answer === "object" ? answer : [String(answer)]);
    return expected.size === named.size && [...expected].every((name) => named.has(name));
  }
  return typeof value === "number" ? Number(answer) === value : String(answer) === String(value);
}
