import { getCycle } from "../../api/moments";
import { matrixOf, type CycleRecord, type Matrix } from "../../model/cycle/cycleRecord";
import { failureOf } from "../../i18n/failure";

export interface LoadedCycle {
  cycle: number;
  record: CycleRecord;
  matrix: Matrix;
}

const MAX_CACHED_RECORDS = 6;
/** Records are not loaded during fast playback. */
const SETTLED_MILLIS = 120;

/** Full records of a session's cycles. The server computes them by replay, so they are loaded only when a panel needs one. */
export class CycleRecords {
  /** The record requested last; null while it loads. */
  shown = $state.raw<LoadedCycle | null>(null);
  problem = $state("");

  private requested = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  // eslint-disable-next-line svelte/prefer-svelte-reactivity -- not rendered
  private readonly known = new Map<number, { loading: Promise<LoadedCycle>; nodes: number }>();

  constructor(private readonly session: string) {}

  /** Load the record of a cycle and show it. `nodeInfoList`: the snapshot of that cycle. */
  want(cycle: number, nodeInfoList: readonly string[]): void {
    if (cycle === this.requested) return;
    this.requested = cycle;
    this.problem = "";
    clearTimeout(this.timer);
    if (cycle === 0) this.shown = null;
    else
      this.timer = setTimeout(
        () => {
          void this.show(cycle, nodeInfoList);
        },
        this.known.has(cycle) ? 0 : SETTLED_MILLIS,
      );
  }

  /** `nodeInfoList` empty: the matrix leaves out nodes that were not evaluated. */
  load(cycle: number, nodeInfoList: readonly string[]): Promise<LoadedCycle> {
    const cached = this.known.get(cycle);
    if (cached && (nodeInfoList.length === 0 || cached.nodes > 0)) return cached.loading;
    const record = cached ? cached.loading.then((loaded) => loaded.record) : getCycle(this.session, cycle);
    const loading = record.then((detail) => ({ cycle, record: detail, matrix: matrixOf(detail, nodeInfoList) }));
    this.known.set(cycle, { loading, nodes: nodeInfoList.length });
    for (const oldest of this.known.keys()) {
      if (this.known.size <= MAX_CACHED_RECORDS) break;
      this.known.delete(oldest);
    }
    loading.catch(() => this.known.delete(cycle));
    return loading;
  }

  close(): void {
    clearTimeout(this.timer);
  }

  private async show(cycle: number, nodeInfoList: readonly string[]): Promise<void> {
    try {
      const loaded = await this.load(cycle, nodeInfoList);
      if (this.requested === cycle) this.shown = loaded;
    } catch (error) {
      if (this.requested !== cycle) return;
      this.problem = failureOf(error);
      this.requested = 0;
    }
  }
}
