/** `98.3%`, rounded down: 100% means that all agree. */
export function printRate(rate: number): string {
  return `${Math.floor(rate * 1_000) / 10}%`;
}
