/** How numbers of an experiment are written. */
import type { Interval } from "./interval";
import type { Column } from "./results";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const hundredths = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const significant = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export function printValue(value: number, unit: Column["unit"]): string {
  if (unit === "share") return `${(100 * value).toFixed(1)}%`;
  if (unit === "seconds") return `${significant.format(value)} s`;
  if (unit === "price") return hundredths.format(value);
  return Number.isInteger(value) ? whole.format(value) : tenths.format(value);
}

/** The ticks of an axis, all with the same number of digits. */
export function printTicks(ticks: readonly number[], unit: Column["unit"]): string[] {
  if (unit !== "share") return ticks.map((tick) => printValue(tick, unit));
  const digits = ticks.every((tick) => Math.abs(100 * tick - Math.round(100 * tick)) < 1e-6) ? 0 : 1;
  return ticks.map((tick) => `${(100 * tick).toFixed(digits)}%`);
}

/** With sign and margin. Shares differ by percentage points. */
export function printDifference({ mean, margin }: Interval, unit: Column["unit"]): string {
  const sign = mean > 0 ? "+" : mean < 0 ? "−" : "";
  if (mean === 0 && !margin) return unit === "share" ? "0 pp" : printValue(0, unit);
  if (unit === "share") return `${sign}${withMargin(100 * Math.abs(mean), margin === null ? null : 100 * margin, 1)} pp`;
  if (unit === "seconds") return `${sign}${printValue(Math.abs(mean), unit)}${margin === null ? "" : ` ± ${printValue(margin, unit)}`}`;
  const digits = unit === "price" ? 2 : Number.isInteger(mean) && Number.isInteger(margin ?? 0) ? 0 : 1;
  return `${sign}${withMargin(Math.abs(mean), margin, digits)}`;
}

/** A size and its margin with equal digits, and one more if they would look the same though they are not. */
function withMargin(size: number, margin: number | null, digits: number): string {
  if (margin === null) return print(size, digits);
  const looksEqual = size !== margin && size.toFixed(digits) === margin.toFixed(digits);
  return `${print(size, looksEqual ? digits + 1 : digits)} ± ${print(margin, looksEqual ? digits + 1 : digits)}`;
}

function print(value: number, digits: number): string {
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
