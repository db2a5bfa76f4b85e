import type { BandShare } from "../../model/cache/bandShare";
import type { CycleView } from "../../model/generated";
import type { State } from "../../model/state/state";
import type { SelectedStatus } from "../../model/cycle/statusPath";

/** Which rows of the matrix are shown: all, the feasible, those not evaluated, those of one plugin, those of one reason. */
export interface MatrixPart {
  kind: "all" | "feasible" | "unseen" | "plugin" | "reason";
  name: string;
}

export interface FocusedNodes {
  title: string;
  nodes: ReadonlySet<string>;
}

export const ALL_ROWS: MatrixPart = { kind: "all", name: "" };

const NO_PODS: ReadonlyMap<string, "away" | "assumed"> = new Map();

/** View options of one page's panels. They are not stored. */
export class ViewOptions {
  cycleAs = $state<"stages" | "matrix">("stages");
  matrixPart = $state.raw<MatrixPart>(ALL_ROWS);
  /** Show the plugins of PreFilter and PreScore by name, also if none of them failed. */
  unfoldsPlugins = $state(false);
  /** Show each plugin's duration at its stage. */
  times = $state(false);
  /** Scores as the plugin returned them, after NormalizeScore, or multiplied by the weight. */
  scoreAs = $state<"raw" | "normalized" | "weighted">("weighted");
  /** The Status whose path through the framework is shown. */
  status = $state.raw<SelectedStatus | null>(null);
  /** The part of a pod group's cycle that the user chose; valid while the current cycle is `of`. */
  groupPart = $state.raw({ of: 0, cycle: 0 });
  /** Whether the matrix fills the page. */
  matrixWide = $state(false);
  /** What colors the nodes of the cache: their utilization, or their Filter result in the shown cycle. */
  cacheBy = $state<"load" | "verdict">("load");
  /** Pods that are moving to their node, or assumed there and not yet confirmed by the API server. */
  movingPods = $state.raw<ReadonlyMap<string, "away" | "assumed">>(NO_PODS);
  /** Where the cache canvas draws a node, in pixels of the window; null: outside the visible area. */
  positionOfNode: (name: string) => { x: number; y: number } | null = () => null;
  /** Zoom of the cache canvas; null: it is not shown. */
  cacheZoom = $state.raw<BandShare | null>(null);
  /** The zoom of the teacher whom the page follows; null: the page follows no one, or the user has zoomed since. */
  teacherZoom = $state.raw<BandShare | null>(null);
  /** The node filter, as typed. */
  nodeFilter = $state("");
  /** Nodes to keep in focus, such as those of one clause of a message: all others are dimmed. */
  focusedNodes = $state.raw<FocusedNodes | null>(null);

  /** Whether anything on the page needs the full record of the cycle. */
  get needsRecord(): boolean {
    return this.times || this.cycleAs === "matrix" || this.matrixWide || this.cacheBy === "verdict" || /\bplugin:./.test(this.nodeFilter);
  }

  /** The cycle that the panels show. */
  shownCycle(state: State | null): CycleView | null {
    const current = state?.cycle ?? null;
    if (!current || this.groupPart.of !== current.cycle) return current;
    return state?.podGroup?.cycles?.find((cycle) => cycle.cycle === this.groupPart.cycle) ?? current;
  }

  /** Dim all nodes but these in the cache; calling it again with the same title restores them. */
  toggleFocusedNodes(title: string, nodes: ReadonlySet<string>): void {
    this.focusedNodes = this.focusedNodes?.title === title ? null : { title, nodes };
  }

  /** Open the matrix with these rows. */
  openMatrix(part: MatrixPart): void {
    this.matrixPart = part;
    this.cycleAs = "matrix";
  }
}
