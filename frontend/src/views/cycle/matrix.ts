import type { CycleDetail } from "../../api/client";

/** One node in the matrix of a cycle: rejected by a plugin, or feasible with its scores. */
export interface MatrixRow {
  node: string;
  code: string;
  /** What rows are filtered by: the rejecting plugin, or "feasible". */
  group: string;
  verdict: string;
  weighted: ReadonlyMap<string, number>;
  total: number | null;
}

export interface Matrix {
  rows: MatrixRow[];
  plugins: { name: string; weight: number }[];
  groups: { name: string; code: string; count: number }[];
}

export const FEASIBLE = "feasible";

/** The matrix of a cycle's full record: feasible nodes by total, then the rejected in the order in which they were looked at. */
export function matrixOf(detail: CycleDetail): Matrix {
  const scores = detail.scores ?? {};
  const plugins = Object.entries(scores).map(([name, score]) => ({ name, weight: score.weight }));
  const feasible = (detail.feasible ?? []).map((node): MatrixRow => {
    const weighted = new Map(plugins.map(({ name }) => [name, scores[name]?.weighted[node] ?? 0]));
    const chosen = node === detail.node;
    return { node, code: "Success", group: FEASIBLE, verdict: chosen ? "chosen" : FEASIBLE, weighted, total: detail.totals?.[node] ?? null };
  });
  feasible.sort((a, b) => (b.total ?? 0) - (a.total ?? 0));
  const rejected = (detail.filter ?? []).map(
    (verdict): MatrixRow => ({
      node: verdict.node,
      code: verdict.code,
      group: verdict.plugin,
      verdict: [verdict.plugin, ...verdict.reasons].filter(Boolean).join(": ").replace(": ", " · "),
      weighted: new Map(),
      total: null,
    }),
  );
  const rows = [...feasible, ...rejected];
  const groups = new Map<string, { name: string; code: string; count: number }>();
  for (const row of rows) {
    const group = groups.get(row.group) ?? { name: row.group, code: row.code, count: 0 };
    group.count += 1;
    groups.set(row.group, group);
  }
  return { rows, plugins, groups: [...groups.values()] };
}
