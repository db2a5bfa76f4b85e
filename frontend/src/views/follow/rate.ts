/** `98.3 %`, rounded down: 100 % is said where all agree, and nowhere else. */
export function printRate(rate: number): string {
  return `${Math.floor(rate * 1_000) / 10} %`;
}
