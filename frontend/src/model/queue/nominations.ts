/** A pod that is nominated to a node. */
export interface Nomination {
  node: string;
  pod: string;
}

/**
 * The nominations that name a node. After a preemption without a candidate, v1.27 keeps the pod under the empty name, which nominates it nowhere.
 * Upstream: internal/queue/scheduling_queue.go nominator.add
 */
export function nominationsIn(byNode: ReadonlyMap<string, readonly string[]>): Nomination[] {
  return [...byNode].flatMap(([node, pods]) => (node === "" ? [] : pods.map((pod) => ({ node, pod }))));
}
