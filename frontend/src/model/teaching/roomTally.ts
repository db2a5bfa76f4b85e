import type { RoomQuestion } from "./room";

/** One answer of a tally, with its share of all answers. */
export interface TallyLine {
  value: string;
  count: number;
  share: number;
  right: boolean | null;
}

/** The tally of a question: all options of a choice, in their order, including those without answers; else the most frequent first. */
export function tallyLines(question: RoomQuestion): TallyLine[] {
  const counts = new Map((question.tally ?? []).map(({ value, count }) => [value, count]));
  const values = question.kind === "choice" ? [...new Set([...question.options, ...counts.keys()])] : [...counts.keys()];
  // Of many different answers, the tally has the most frequent ones alone.
  const all = question.answered;
  return values.map((value) => {
    const count = counts.get(value) ?? 0;
    return { value, count, share: all ? count / all : 0, right: question.right === null ? null : sameAnswer(value, question.right) };
  });
}

/** Whether two answers are equal: numbers by value, names in any order. */
export function sameAnswer(a: string, b: string): boolean {
  if (a === b) return true;
  if (a !== "" && b !== "" && Number(a) === Number(b)) return true;
  return sorted(a) === sorted(b);
}

const sorted = (names: string): string => names.split(",").map((name) => name.trim()).sort().join(",");

/** A room code with a hyphen for reading it out: K7MR-2XWD. */
export function printCode(code: string): string {
  return code.length === 8 ? `${code.slice(0, 4)}-${code.slice(4)}` : code;
}
