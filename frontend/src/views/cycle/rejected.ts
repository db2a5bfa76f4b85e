import type { RejectionView } from "../../model/generated";
import type { CycleRecords } from "../../store/requests/cycleRecords.svelte";

/** Every node that a row of the funnel counts, from the cycle's full record; none if it is not available. */
export async function nodesBehind(records: CycleRecords, cycle: number, rejection: RejectionView): Promise<ReadonlySet<string>> {
  const loaded = await records.load(cycle, []).catch(() => null);
  const ofPlugin = (loaded?.record.filter ?? []).filter((verdict) => verdict.plugin === rejection.plugin && verdict.code === rejection.code);
  const reasons = rejection.reasons.join("|");
  const exact = ofPlugin.filter((verdict) => verdict.reasons.join("|") === reasons);
  return new Set((exact.length ? exact : ofPlugin).map((verdict) => verdict.node));
}
