/** The positions of the nodes that Filter evaluated, counted from 1: it begins at `start`, and may continue at the start of nodeInfoList. */
export function sampledRanges({ start, evaluated, all }: { start: number; evaluated: number; all: number }): { first: number; last: number }[] {
  const head = Math.min(evaluated, all - start);
  return [
    { first: start + 1, last: start + head },
    { first: 1, last: evaluated - head },
  ].filter(({ first, last }) => last >= first);
}
