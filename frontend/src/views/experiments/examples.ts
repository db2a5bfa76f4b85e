/** Plans to begin with, by the question that each one answers. */
import { t, type MessageKey } from "../../i18n/translate";

export interface Example {
  id: string;
  question: MessageKey;
  help: MessageKey;
  /** The cluster that is generated without a session. */
  generated: Generated;
  /** The plan, for a session as the base or for a generated cluster. */
  plan(session: BaseSession | null): string;
}

interface Generated {
  shape: string;
  nodes: number;
  pods: number;
}

/** The session with which the trials begin: as of an event, or as of its newest one. */
export interface BaseSession {
  id: string;
  event: number | null;
  /** How many nodes it has; 0: unknown. */
  nodes: number;
}

const FEWER_OF: Generated = { shape: "spread", nodes: 18, pods: 120 };
const PACKED: Generated = { shape: "mixed", nodes: 30, pods: 250 };
const UPGRADED: Generated = { shape: "preempt", nodes: 14, pods: 80 };
const FILLED: Generated = { shape: "mixed", nodes: 20, pods: 100 };
const PACKING = `plugins: {NodeResourcesBalancedAllocation: false}
    pluginArgs:
      NodeResourcesFit:
        scoringStrategy:
          type: MostAllocated
          resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]`;

export const EXAMPLES: readonly Example[] = [
  {
    id: "packing",
    question: "experiments.ask.packing",
    help: "experiments.ask.packing.help",
    generated: PACKED,
    plan: (session) => `${head("packing", session, PACKED)}
workload: {unbind: true}
variants:
  - name: ${session ? "current" : "spreading"}
  - name: packing
    ${PACKING}
seeds: 5
`,
  },
  {
    id: "upgrade",
    question: "experiments.ask.upgrade",
    help: "experiments.ask.upgrade.help",
    generated: UPGRADED,
    plan: (session) => `${head("upgrade", session, UPGRADED)}
# Pods arrive one after the other, so that some have to wait and others are evicted.
workload: {unbind: true, arrivals: {rate: 2}}
variants:
  - {name: v1.27.1, release: v1.27.1}
  - {name: v1.36, release: v1.36}
seeds: 5
measures: [placed, pending, pendingReason, victims, pdbViolations, attempts, waiting, nodesUsed]
`,
  },
  {
    id: "nodes",
    question: "experiments.ask.nodes",
    help: "experiments.ask.nodes.help",
    generated: FEWER_OF,
    plan: (session) => `${head("nodes", session, FEWER_OF)}
workload: {unbind: true}
variants:
  - name: all nodes
  # The first so many nodes.
${fewer(session?.nodes || FEWER_OF.nodes)}
seeds: 3
measures: [placed, pending, pendingReason, nodesUsed, utilization, zoneSkew]
`,
  },
  {
    id: "fit",
    question: "experiments.ask.fit",
    help: "experiments.ask.fit.help",
    generated: FILLED,
    plan: (session) => `${head("fit", session, FILLED)}
workload:
  unbind: true
  # Copies of your pods until they request 150 % of the cpu of all nodes: more than can fit.
  load: {resource: cpu, share: 1.5}
variants:
  - name: ${session ? "current" : "spreading"}
  - name: packing
    ${PACKING}
seeds: 3
measures: [placed, pending, pendingReason, utilization, stranded]
`,
  },
];

/** Variants with ⁵⁄₆, ⅔, ½ and ⅓ of the nodes. */
function fewer(nodes: number): string {
  const counts = [5 / 6, 2 / 3, 1 / 2, 1 / 3].map((share) => Math.max(Math.round(nodes * share), 1));
  return [...new Set(counts)].filter((count) => count < nodes).map((count) => `  - {name: ${String(count)} of ${String(nodes)} nodes, nodes: {count: ${String(count)}}}`).join("\n");
}

function head(ask: "packing" | "upgrade" | "nodes" | "fit", session: BaseSession | null, { shape, nodes, pods }: Generated): string {
  const event = session?.event == null ? "" : `, event: ${String(session.event)}`;
  const base = session ? `session: ${session.id}${event}` : `generate: {shape: ${shape}, nodes: ${String(nodes)}, pods: ${String(pods)}}`;
  return `experiment: 1
name: ${t(`experiments.ask.${ask}.name`)}
question: ${JSON.stringify(t(`experiments.ask.${ask}`))}
base: {${base}}`;
}

/** Whether a plan generates its cluster, so that its result says nothing about a cluster of the user's. */
export function isGenerated(plan: string): boolean {
  return /^base:\s*\{?\s*generate\b/m.test(plan);
}
