import type { CycleView, ScoredNodeView } from "../generated";

/** The scores of the two best nodes while their cycle is still running. */
export interface ScoresSoFar {
  /** After NormalizeScore: scores are normalized, weighted and added up. */
  isNormalized: boolean;
  nodes: readonly ScoredNodeView[];
}

interface Best {
  node: string;
  raw?: number[];
  normalized?: number[];
  total?: number;
}

/** What Score, and then NormalizeScore, have given so far; null: nothing yet, or the server's version of schedviz does not record it. */
export function scoresSoFar(cycle: CycleView): ScoresSoFar | null {
  const factsOf = (stage: string): Record<string, unknown> | undefined => cycle.stages?.find((view) => view.stage === stage)?.facts;
  const [scored, normalized] = [factsOf("Score"), factsOf("NormalizeScore")];
  const best = bestIn(scored);
  if (!best.length) return null;
  const plugins = scored?.["plugins"] as string[];
  const weights = normalized?.["weights"] as number[] | undefined;
  const after = new Map(bestIn(normalized).map((best) => [best.node, best]));
  const nodes = best.map(({ node, raw = [] }): ScoredNodeView => {
    const then = after.get(node);
    const scores = plugins.map((plugin, index) => {
      const weight = weights?.[index] ?? 0;
      const value = then?.normalized?.[index] ?? 0;
      return { plugin, weight, raw: raw[index] ?? 0, normalized: value, weighted: value * weight };
    });
    return { node, total: then?.total ?? 0, scores };
  });
  return { isNormalized: after.size > 0, nodes };
}

function bestIn(facts: Record<string, unknown> | undefined): Best[] {
  return Array.isArray(facts?.["best"]) ? (facts["best"] as Best[]) : [];
}
