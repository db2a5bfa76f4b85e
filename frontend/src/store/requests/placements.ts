import { getCycleSummary } from "../../api/moments";
import { getHistory, type HistoryEntry, type HistoryPage } from "../../api/history";
import { isClusterImport } from "../../model/sessions/importedFiles";
import { placementWithoutCycle, type Placement } from "../../model/cycle/placement";
import type { SessionStore } from "../session/sessionStore.svelte";

/** The newest entries of a pod's history that are searched for its cycle. */
const MAX_ENTRIES = 200;

/** The number of the last cycle of the pod `namespace/name` at a moment; null: it had none. */
export async function lastCycleOf(store: SessionStore, pod: string, at: number, signal: AbortSignal): Promise<number | null> {
  const { results, lives } = await getHistory(store.id, { kind: "pod", name: pod }, { tail: MAX_ENTRIES, at }, signal);
  return lastCycle(results, lives, at)?.cycle ?? null;
}

/** How the pod `namespace/name` came to the node that it is on at a moment. */
export async function placementOf(store: SessionStore, pod: string, at: number, signal: AbortSignal): Promise<Placement> {
  const { results, lives } = await getHistory(store.id, { kind: "pod", name: pod }, { tail: MAX_ENTRIES, at }, signal);
  const life = lives.findLast(({ born }) => born <= at);
  const entry = lastCycle(results, lives, at);
  if (entry) {
    const cycle = await getCycleSummary(store.id, entry.cycle, signal);
    if (cycle.outcome === "scheduled" && cycle.pod === pod) return { by: "cycle", cycle };
  }
  const { follows, report } = store.summary;
  return placementWithoutCycle({ isClusterImport: isClusterImport(report), isFollowing: follows !== null, isFromStart: (life?.born ?? 0) === 0, firstEvent: store.playback.firstEvent });
}

/** The entry of the last cycle of the pod that has the name at a moment. */
function lastCycle(results: readonly HistoryEntry[], lives: HistoryPage["lives"], at: number): HistoryEntry | undefined {
  const life = lives.findLast(({ born }) => born <= at);
  return results.findLast(({ t, uid }) => t === "cycleEnded" && (!life || !uid || uid === life.uid));
}
