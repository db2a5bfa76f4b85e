import { funnelOf, mergedRejections } from "./cycleStages";
import type { CycleView } from "../generated";

/** A part of the snapshot's nodes, by what Filter found. */
export interface FilterPart {
  kind: "feasible" | "rejected" | "unseen";
  /** The plugin that rejected the nodes; "": an extender, or the cycle does not say. */
  plugin: string;
  /** The Status code of the rejection; "": several, or unknown. */
  code: string;
  nodes: number;
}

/** All nodes of the snapshot: the feasible ones, those that each plugin rejected (most first), those that were not evaluated. Empty parts are left out. */
export function filterParts(cycle: CycleView): FilterPart[] {
  const funnel = funnelOf(cycle);
  const rejections = (cycle.stages ?? []).filter((view) => view.stage === "Filter").flatMap((view) => view.rejections ?? []);
  const byPlugin = new Map<string, FilterPart>();
  for (const { plugin, code, nodes } of mergedRejections(rejections)) {
    const existing = byPlugin.get(plugin);
    byPlugin.set(plugin, { kind: "rejected", plugin, code: existing && existing.code !== code ? "" : code, nodes: nodes + (existing?.nodes ?? 0) });
  }
  const counted = [...byPlugin.values()].reduce((sum, { nodes }) => sum + nodes, 0);
  const others: FilterPart = { kind: "rejected", plugin: "", code: "", nodes: Math.max(0, funnel.rejected - counted) };
  return [
    { kind: "feasible" as const, plugin: "", code: "Success", nodes: funnel.feasible },
    ...[...byPlugin.values()].sort((a, b) => b.nodes - a.nodes),
    others,
    { kind: "unseen" as const, plugin: "", code: "", nodes: funnel.notEvaluated },
  ].filter(({ nodes }) => nodes > 0);
}

const TONES: Record<string, string> = { Success: "feasible", UnschedulableAndUnresolvable: "unresolvable", Pending: "pending", Error: "error" };

export function toneOf(part: FilterPart): string {
  return part.kind === "unseen" ? "rest" : (TONES[part.code] ?? "unschedulable");
}

/** The colors of rejected nodes that a key explains: whether preemption may help. If a node is feasible, preemption is not tried. */
export function rejectionTones(parts: readonly FilterPart[]): string[] {
  if (parts.some(({ kind }) => kind === "feasible")) return [];
  return ["unschedulable", "unresolvable"].filter((tone) => parts.some((part) => part.kind === "rejected" && part.code !== "" && toneOf(part) === tone));
}
