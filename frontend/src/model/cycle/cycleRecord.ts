/** The result of Filter on one node. `plugin` is empty if an extender or a nominated pod rejected it. */
export interface NodeVerdict {
  node: string;
  plugin: string;
  code: string;
  reasons: string[];
}

/** The scores of one Score plugin by node. */
export interface PluginScores {
  weight: number;
  raw: Record<string, number>;
  normalized: Record<string, number>;
  weighted: Record<string, number>;
}

export interface CandidateRecord {
  node: string;
  victims: string[];
  numPDBViolations: number;
}

/** A pod that a dry run removed from a candidate: whether it fits back. */
export interface ReprieveRecord {
  pod: string;
  stays: boolean;
  violatesBudget?: boolean;
}

/** The full record of a cycle from `GET cycles/{n}/`, with those members of FORMAT.md's `cycle` that the page uses. */
export interface CycleRecord {
  pod: string;
  outcome: string;
  node?: string;
  evaluatedNodes?: number;
  startNodeIndex?: number;
  feasible?: string[];
  filter?: NodeVerdict[];
  skippedFilterPlugins?: string[];
  scores?: Record<string, PluginScores> | null;
  totals?: Record<string, number> | null;
  tied?: string[];
  /** Durations of plugins when the record was made, by extension point. */
  pluginNanos?: Record<string, Record<string, number>>;
  /** By candidate, in the order of the dry runs. */
  reprieves?: Record<string, ReprieveRecord[]>;
  /** v1.36: `preBindPreFlight` has the answers of the PreBind plugins that were asked whether they will do something. */
  binding?: { preBindPreFlight?: { plugin: string; code: string }[] } | null;
  postFilter?: { candidates?: CandidateRecord[]; chosen?: string; victims?: string[]; nominatedNode?: string } | null;
}

/** Durations of plugins in a cycle. */
export interface Times {
  /** By stage; NormalizeScore is part of Score. */
  byStage: ReadonlyMap<string, Readonly<Record<string, number>>>;
  all: number;
  /** The longest duration of a plugin at a stage. */
  most: number;
}

export function timesOf(record: CycleRecord | undefined): Times | null {
  if (!record?.pluginNanos) return null;
  const byStage = new Map<string, Record<string, number>>();
  for (const [point, plugins] of Object.entries(record.pluginNanos)) {
    const stage = point === "NormalizeScore" ? "Score" : point;
    const known = byStage.get(stage) ?? {};
    for (const [plugin, nanos] of Object.entries(plugins)) known[plugin] = (known[plugin] ?? 0) + nanos;
    byStage.set(stage, known);
  }
  const pluginRecords = [...byStage.values()].flatMap((plugins) => Object.values(plugins));
  return { byStage, all: pluginRecords.reduce((sum, nanos) => sum + nanos, 0), most: Math.max(1, ...pluginRecords) };
}

/** A row of the matrix: one node. */
export interface MatrixRow {
  node: string;
  /** The index in nodeInfoList; -1: unknown, or no longer in it. */
  index: number;
  kind: "feasible" | "rejected" | "unseen";
  code: string;
  /** The plugin that rejected the node. */
  plugin: string;
  reasons: readonly string[];
  total: number | null;
  /** The difference from the winner's total, and the plugin that contributed most to it. */
  behind: number;
  lostTo: string;
}

export interface ScorePlugin {
  name: string;
  weight: number;
  scores: PluginScores;
  /** The highest weighted score of the column, which fills a cell. */
  most: number;
}

/** The matrix of nodes and plugins of one cycle. */
export interface Matrix {
  winner: string;
  plugins: ScorePlugin[];
  /** Plugins that rejected nodes, in the order in which they run, as far as it is known. */
  filters: string[];
  /** In the order of nodeInfoList from the start index on, as Filter evaluated them; nodes that were not evaluated come last. */
  rows: MatrixRow[];
  byNode: ReadonlyMap<string, MatrixRow>;
  tied: ReadonlySet<string>;
  counts: { feasible: number; rejected: number; unseen: number };
}

/** The default order of Filter plugins, of both releases. Upstream: apis/config/v1/default_plugins.go getDefaultPlugins */
const FILTER_ORDER = [
  "NodeUnschedulable",
  "NodeName",
  "TaintToleration",
  "NodeAffinity",
  "NodePorts",
  "NodeResourcesFit",
  "VolumeRestrictions",
  "EBSLimits",
  "GCEPDLimits",
  "NodeVolumeLimits",
  "AzureDiskLimits",
  "VolumeBinding",
  "VolumeZone",
  "PodTopologySpread",
  "InterPodAffinity",
  "DynamicResources",
  "NodeDeclaredFeatures",
];

/** The matrix of a cycle. `nodeInfoList` is the snapshot's, for nodes that were not evaluated; empty if unknown. */
export function matrixOf(record: CycleRecord, nodeInfoList: readonly string[]): Matrix {
  const scores = record.scores ?? {};
  const plugins = Object.entries(scores).map(([name, plugin]): ScorePlugin => {
    let most = 0;
    for (const node in plugin.weighted) most = Math.max(most, plugin.weighted[node]!);
    return { name, weight: plugin.weight, scores: plugin, most };
  });
  const winner = record.node ?? "";
  const indexOf = new Map(nodeInfoList.map((node, index) => [node, index]));
  const byNode = new Map<string, MatrixRow>();
  for (const verdict of record.filter ?? []) byNode.set(verdict.node, rejectedRow(verdict, indexOf));
  for (const node of record.feasible ?? []) byNode.set(node, feasibleRow(node, record, plugins, winner, indexOf));
  const evaluated = [...byNode.values()];
  const start = record.startNodeIndex ?? 0;
  const all = nodeInfoList.length || 1;
  // Filter starts at the start index and wraps around.
  const position = (row: MatrixRow): number => (row.index < 0 ? all : (row.index - start + all) % all);
  evaluated.sort((a, b) => position(a) - position(b));
  const unseen: MatrixRow[] = [];
  for (let i = 0; i < nodeInfoList.length; i++) {
    const index = (start + i) % nodeInfoList.length;
    const node = nodeInfoList[index]!;
    if (!byNode.has(node)) unseen.push({ node, index, kind: "unseen", code: "", plugin: "", reasons: [], total: null, behind: 0, lostTo: "" });
  }
  for (const row of unseen) byNode.set(row.node, row);
  const feasible = record.feasible?.length ?? 0;
  return {
    winner,
    plugins: plugins.sort((a, b) => b.most - a.most),
    filters: inFilterOrder(new Set((record.filter ?? []).map((verdict) => verdict.plugin).filter(Boolean))),
    rows: [...evaluated, ...unseen],
    byNode,
    tied: new Set(record.tied),
    counts: { feasible, rejected: evaluated.length - feasible, unseen: unseen.length },
  };
}

function inFilterOrder(plugins: ReadonlySet<string>): string[] {
  const rank = (plugin: string): number => (FILTER_ORDER.includes(plugin) ? FILTER_ORDER.indexOf(plugin) : FILTER_ORDER.length);
  return [...plugins].sort((a, b) => rank(a) - rank(b));
}

function rejectedRow(verdict: NodeVerdict, indexOf: ReadonlyMap<string, number>): MatrixRow {
  const { node, code, plugin, reasons } = verdict;
  return { node, index: indexOf.get(node) ?? -1, kind: "rejected", code, plugin, reasons, total: null, behind: 0, lostTo: "" };
}

function feasibleRow(
  node: string,
  record: CycleRecord,
  plugins: readonly ScorePlugin[],
  winner: string,
  indexOf: ReadonlyMap<string, number>,
): MatrixRow {
  const total = record.totals?.[node] ?? null;
  const best = record.totals?.[winner] ?? null;
  let lostTo = "";
  let most = 0;
  for (const { name, scores } of plugins) {
    const lost = (scores.weighted[winner] ?? 0) - (scores.weighted[node] ?? 0);
    if (lost > most) {
      most = lost;
      lostTo = name;
    }
  }
  const behind = total === null || best === null ? 0 : best - total;
  return { node, index: indexOf.get(node) ?? -1, kind: "feasible", code: "Success", plugin: "", reasons: [], total, behind, lostTo: behind > 0 ? lostTo : "" };
}
