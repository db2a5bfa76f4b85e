import type { Column } from "./results";

/** The places of columns, of each measure at most so many: the first, the last and evenly spaced ones between them, such as of a curve. */
export function spaced(columns: readonly Column[], most: number): number[] {
  const measures = new Map<string, number[]>();
  columns.forEach(({ measure }, place) => measures.set(measure, [...(measures.get(measure) ?? []), place]));
  return [...measures.values()].flatMap((parts) =>
    parts.length <= most ? parts : Array.from({ length: most }, (_, place) => parts[Math.floor((place * (parts.length - 1)) / (most - 1))]!),
  );
}
