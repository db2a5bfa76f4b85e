import type { Create } from "../../model/generated";

/** Common parts of nodes and pods that are created here. Quantities in Kubernetes notation. */
export interface NodePlan {
  count: number;
  prefix: string;
  zone: string;
  cpu: string;
  memory: string;
  pods: string;
  /** Extended resources and their amounts. */
  extended?: Readonly<Record<string, string>>;
  labels?: Readonly<Record<string, string>>;
}

export interface PodPlan {
  count: number;
  prefix: string;
  namespace: string;
  cpu: string;
  memory: string;
  priority: number;
}

/** Commands that create `count` nodes, with the first unused names. */
export function nodesOf(plan: NodePlan, taken: ReadonlySet<string>): Create[] {
  const amounts = { cpu: plan.cpu, memory: plan.memory, pods: plan.pods, ...plan.extended };
  return freeNames(plan.prefix, plan.count, taken).map((name) => ({
    op: "create",
    object: {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name,
        labels: { "kubernetes.io/hostname": name, ...(plan.zone ? { "topology.kubernetes.io/zone": plan.zone } : {}), ...plan.labels },
      },
      spec: {},
      status: { capacity: amounts, allocatable: amounts },
    },
  }));
}

/** Commands that create `count` equal pods. `taken`: existing keys, `namespace/name`. */
export function podsOf(plan: PodPlan, taken: ReadonlySet<string>): Create[] {
  const inSpace = new Set([...taken].filter((key) => key.startsWith(`${plan.namespace}/`)).map((key) => key.slice(plan.namespace.length + 1)));
  return freeNames(plan.prefix, plan.count, inSpace).map((name) => ({
    op: "create",
    object: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: plan.namespace, labels: { app: plan.prefix.replace(/-+$/, "") } },
      spec: {
        ...(plan.priority ? { priority: plan.priority } : {}),
        containers: [{ name: "main", resources: { requests: { cpu: plan.cpu, memory: plan.memory } } }],
      },
    },
  }));
}

function freeNames(prefix: string, count: number, taken: ReadonlySet<string>): string[] {
  const names: string[] = [];
  for (let number = 1; names.length < count; number++) if (!taken.has(`${prefix}${number}`)) names.push(`${prefix}${number}`);
  return names;
}
