/** With more variants than this, all of them except the baseline have the same color. */
const COLORS = 8;

/** The color of a variant: the baseline is gray in every figure. */
export function colorOf(variant: number, baseline: number, variants: number): string {
  if (variant === baseline) return "var(--ink-3)";
  const place = variant > baseline ? variant - 1 : variant;
  return variants - 1 > COLORS ? "var(--series-0)" : `var(--series-${place % COLORS})`;
}
