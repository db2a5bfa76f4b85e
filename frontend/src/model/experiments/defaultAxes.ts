import type { Choice } from "./choice";
import type { Figures } from "./figures";

/** The two columns to plot first: what the choice gains across, and what it costs up. Null with fewer than two columns. */
export function defaultAxes(figures: Figures, choice: Choice | null): [x: number, y: number] | null {
  const { columns } = figures.results;
  if (columns.length < 2) return null;
  const varied = columns.flatMap(({ better, isVolatile }, place) => (better && !isVolatile && isVaried(figures, place) ? place : []));
  const ranked = [...(choice ? [...choice.gains, ...choice.goals] : []), ...varied].filter((place) => varied.includes(place));
  const x = ranked[0] ?? figures.columnOf("nodesUsed") ?? 0;
  const isOther = (place: number): boolean => columns[place]!.measure !== columns[x]!.measure;
  const y = choice?.costs.find(isOther) ?? ranked.find(isOther) ?? figures.columnOf("placed") ?? 1;
  return [x, y === x ? (x === 0 ? 1 : 0) : y];
}

function isVaried(figures: Figures, column: number): boolean {
  const means = figures.valuesOf(column).flatMap((value) => value?.mean ?? []);
  return new Set(means).size > 1;
}
