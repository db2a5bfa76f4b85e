/** Where a session is on the path of its lesson, told by numbers of events alone: the engine does the same every time. */
export interface PathStop {
  id: string;
  arrived: number;
  revealed: number;
}

/**
 * `ahead`: not reached yet; `there`: one has arrived, and what is asked is open; `revealed`: it is done; `past`: so are later stops;
 * `left`: something was done that is not the lesson's.
 */
export type Standing = "ahead" | "there" | "revealed" | "past" | "left";

/** The stop at which to go on with a session after `event`: the first that is not behind it, else the last. */
export function placeAt(stops: readonly PathStop[], event: number): number {
  const ahead = stops.findIndex((stop) => stop.revealed >= event);
  return ahead < 0 ? stops.length - 1 : ahead;
}

/** How a session after `event` stands to a stop. */
export function standing(stops: readonly PathStop[], index: number, event: number): Standing {
  const stop = stops[index];
  if (!stop || event < stop.arrived) return "ahead";
  if (!stops.some(({ arrived, revealed }) => event === arrived || event === revealed)) return "left";
  if (event > stop.revealed) return "past";
  return event === stop.revealed ? "revealed" : "there";
}

/** Whether an answer is what the engine says: numbers by value, names in any order. */
export function isRight(given: string | number | readonly string[], value: unknown): boolean {
  if (Array.isArray(value)) {
    const wanted = new Set(value.map(String));
    const named = new Set(typeof given === "object" ? given : [String(given)]);
    return wanted.size === named.size && [...wanted].every((name) => named.has(name));
  }
  return typeof value === "number" ? Number(given) === value : String(given) === String(value);
}
