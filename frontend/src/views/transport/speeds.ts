import { t } from "../../i18n/translate";

/** Cycles per second at 1×: slow enough to read the reason of each. */
const CYCLES_PER_SECOND = 1;

/** Speeds in cycles per second; null: as fast as possible. The first five are 0.5× to 12×. */
export const SPEEDS: readonly (number | null)[] = [...[0.5, 1, 2, 4, 12].map((speed) => speed * CYCLES_PER_SECOND), 50, 200, null];

export function speedInWords(rate: number | null): string {
  if (rate === null) return t("transport.fastest");
  const speed = rate / CYCLES_PER_SECOND;
  return speed <= 12 ? t("transport.speed.times", { speed }) : t("transport.rate", { rate });
}
