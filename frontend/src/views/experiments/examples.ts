/** Plans to begin with, by the question that each one answers. */
import { t, type MessageKey } from "../../i18n/translate";

export interface Example {
  id: string;
  question: MessageKey;
  help: MessageKey;
  /** The plan, for a session as the base or for a generated cluster. */
  plan(session: BaseSession | null): string;
}

/** The session with which the trials begin: as of an event, or as of its newest one. */
export interface BaseSession {
  id: string;
  event: number | null;
  /** How many nodes it has; 0: unknown. */
  nodes: number;
}

const GENERATED_NODES = 18;
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
    plan: (session) => `${head("Packing or spreading", "experiments.ask.packing", session, "{shape: mixed, nodes: 30, pods: 250}")}
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
    plan: (session) => `${head("Upgrade to v1.36", "experiments.ask.upgrade", session, "{shape: preempt, nodes: 12, pods: 80}")}
workload: {unbind: true}
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
    plan: (session) => `${head("How many nodes can go", "experiments.ask.nodes", session, `{shape: spread, nodes: ${String(GENERATED_NODES)}, pods: 120}`)}
workload: {unbind: true}
variants:
  - name: all nodes
  # The first so many nodes.
${fewer(session?.nodes || GENERATED_NODES)}
seeds: 3
measures: [placed, pending, pendingReason, nodesUsed, utilization, zoneSkew]
`,
  },
  {
    id: "fit",
    question: "experiments.ask.fit",
    help: "experiments.ask.fit.help",
    plan: (session) => `${head("How many more pods fit", "experiments.ask.fit", session, "{shape: mixed, nodes: 20, pods: 100}")}
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

function head(name: string, question: MessageKey, session: BaseSession | null, generated: string): string {
  const event = session?.event == null ? "" : `, event: ${String(session.event)}`;
  const base = session ? `session: ${session.id}${event}` : `generate: ${generated}`;
  return `experiment: 1
name: ${name}
question: ${JSON.stringify(t(question))}
base: {${base}}`;
}
