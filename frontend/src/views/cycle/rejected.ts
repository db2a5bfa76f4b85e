import { getCycle, type CycleDetail } from "../../api/client";
import type { RejectionView } from "../../model/generated";

/** The last cycle that was asked for in full: lines of one funnel are pointed at one after the other. */
let asked: { key: string; detail: Promise<CycleDetail> } | null = null;

/** Every node that a line of the funnel counts, by the cycle's full record; none when it cannot be had. */
export async function nodesBehind(session: string, cycle: number, rejection: RejectionView): Promise<ReadonlySet<string>> {
  const key = `${session}/${cycle}`;
  if (asked?.key !== key) asked = { key, detail: getCycle(session, cycle) };
  const { filter } = await asked.detail.catch((): Partial<CycleDetail> => {
    asked = null;
    return {};
  });
  const ofPlugin = (filter ?? []).filter((verdict) => verdict.plugin === rejection.plugin && verdict.code === rejection.code);
  const wanted = rejection.reasons.join("|");
  const exact = ofPlugin.filter((verdict) => verdict.reasons.join("|") === wanted);
  return new Set((exact.length ? exact : ofPlugin).map((verdict) => verdict.node));
}
