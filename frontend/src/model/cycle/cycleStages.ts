import type { CycleView, RejectionView, StageView } from "../generated";

/** The stages that every scheduling cycle may reach, in order. Others are shown only when they occur. */
const EXPECTED_STAGES = ["Pop", "UpdateSnapshot", "PreFilter", "Filter", "PreScore", "Score", "SelectHost", "Assume", "Reserve", "Permit"];

/** Stages without a row of their own: one that reports only that there was nothing to do, and one whose result is shown at Score. */
const WITHOUT_ROW = new Set(["SkipPodSchedule"]);
const NORMALIZE_SCORE = "NormalizeScore";

/** `skipped`: the cycle went on, or ended, without this stage. `ahead`: the cycle may still reach it. */
export type Reached = "ended" | "next" | "skipped" | "ahead";

/** One row of the cycle pane. */
export interface StageRow {
  stage: string;
  reached: Reached;
  views: StageView[];
}

/** Whether two rows have the same content. */
export function isSameRow(a: StageRow, b: StageRow): boolean {
  return a.stage === b.stage && a.reached === b.reached && JSON.stringify(a.views) === JSON.stringify(b.views);
}

/**
 * The rows of a cycle: the stages that ended, in order, then those that are expected. A stage that the cycle skipped
 * (Score with one feasible node, everything after a failure) keeps its place.
 */
export function stageRowsOf(cycle: CycleView): StageRow[] {
  const ended = (cycle.stages ?? []).filter((view) => view.stage !== NORMALIZE_SCORE && (!WITHOUT_ROW.has(view.stage) || Object.keys(view.facts ?? {}).length > 0));
  const next = cycle.nextStage ?? "";
  const rows: StageRow[] = [];
  const remaining = [...EXPECTED_STAGES];
  const skipTo = (stage: string): void => {
    const index = remaining.indexOf(stage);
    if (index < 0) return;
    for (const skipped of remaining.splice(0, index)) rows.push({ stage: skipped, reached: "skipped", views: [] });
    remaining.shift();
  };
  for (const view of ended) {
    skipTo(view.stage);
    const last = rows[rows.length - 1];
    if (last?.stage === view.stage && last.reached === "ended") last.views.push(view);
    else rows.push({ stage: view.stage, reached: "ended", views: [view] });
  }
  if (next) {
    skipTo(next);
    rows.push({ stage: next, reached: "next", views: [] });
  }
  for (const stage of remaining) rows.push({ stage, reached: next || !cycle.outcome ? "ahead" : "skipped", views: [] });
  return rows;
}

/** Consecutive stages with nothing to report share a row. */
export function condensedRows(all: readonly StageRow[]): StageRow[] {
  const rows: StageRow[] = [];
  for (const stage of all) {
    const last = rows[rows.length - 1];
    const hasNoResult = stage.reached === "skipped" || stage.reached === "ahead";
    if (hasNoResult && last?.reached === stage.reached) rows[rows.length - 1] = { ...last, stage: `${last.stage} · ${stage.stage}` };
    else rows.push(stage);
  }
  return rows;
}

/** The winner's lead, and the plugin that contributed most to it; several if they contributed the same, "" if none did. */
export interface Margin {
  by: number;
  plugin: string;
}

export function marginOf(cycle: CycleView): Margin | null {
  const { winner, runnerUp } = cycle;
  if (!winner || !runnerUp) return null;
  const runnerUpScores = new Map(runnerUp.scores.map((score) => [score.plugin, score.weighted]));
  const leads = winner.scores.map(({ plugin, weighted }) => ({ plugin, lead: weighted - (runnerUpScores.get(plugin) ?? 0) }));
  const most = Math.max(...leads.map(({ lead }) => lead));
  const plugins = most > 0 ? leads.filter(({ lead }) => lead === most).map(({ plugin }) => plugin) : [];
  return { by: winner.total - runnerUp.total, plugin: plugins.join(", ") };
}

/**
 * Whether only the node that an earlier preemption nominated was tried, because it has room. A cycle that searches finds more nodes before it
 * stops. In v1.36 a cycle also tries one node only if it takes the node hint of an earlier pod with the same signature (batching): no preemption
 * nominated that one.
 */
export function triedNominatedOnly({ outcome, feasibleNodes, evaluatedNodes = 0, allNodes = 0, stages = [] }: CycleView): boolean {
  const hasNodeHint = stages.some(({ facts }) => facts?.["hint"]);
  return outcome === "scheduled" && feasibleNodes === 1 && evaluatedNodes < allNodes && !hasNodeHint;
}

/** The same for a cycle that has chosen its node but has not ended. */
export function choseNominatedOnly(cycle: CycleView): boolean {
  const { feasible, notEvaluated } = funnelOf(cycle);
  return feasible === 1 && notEvaluated > 0 && !cycle.stages?.some(({ facts }) => facts?.["hint"]);
}

/** Nodes that one plugin rejected for the same reasons, counted together, largest first. Nodes are filtered in parts, each of which may report its own counts. */
export function mergedRejections(rejections: readonly RejectionView[]): RejectionView[] {
  const merged = new Map<string, RejectionView>();
  for (const rejection of rejections) {
    const key = [rejection.plugin, rejection.code, ...rejection.reasons].join("\n");
    const existing = merged.get(key);
    merged.set(key, existing ? { ...existing, nodes: existing.nodes + rejection.nodes, first: [...existing.first, ...rejection.first] } : rejection);
  }
  return [...merged.values()].sort((a, b) => b.nodes - a.nodes);
}

/** What happened to the snapshot's nodes in this cycle. The counts add up to `all`. */
export interface Funnel {
  all: number;
  rejected: number;
  feasible: number;
  notEvaluated: number;
  start: number;
  evaluated: number;
}

export function funnelOf(cycle: CycleView): Funnel {
  const filter = cycle.stages?.find((view) => view.stage === "Filter");
  const fact = (name: string): number | undefined => {
    const value = filter?.facts?.[name];
    return typeof value === "number" ? value : undefined;
  };
  const all = cycle.allNodes ?? 0;
  const evaluated = fact("evaluated") ?? cycle.evaluatedNodes ?? 0;
  const feasible = fact("feasible") ?? cycle.feasibleNodes ?? 0;
  return {
    all,
    feasible,
    rejected: Math.max(0, evaluated - feasible),
    notEvaluated: Math.max(0, all - evaluated),
    start: fact("start") ?? cycle.startNodeIndex ?? 0,
    evaluated,
  };
}
