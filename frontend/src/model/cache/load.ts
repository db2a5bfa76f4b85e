import type { Amounts, NodeInfo } from "../state/nodeList";
import { share } from "../text/quantity";

/** The upper limits of the load classes 1 to 5, as shares of the allocatable amount. Class 0: nothing is requested. */
export const LOAD_LIMITS = [0.25, 0.5, 0.75, 0.9, 1] as const;
/** The number of load classes, 0 included. */
export const LOAD_CLASSES = LOAD_LIMITS.length + 1;

/** The class of a share between 0 and 1. */
export function loadClass(part: number): number {
  if (part <= 0) return 0;
  const index = LOAD_LIMITS.findIndex((limit) => part <= limit);
  return index < 0 ? LOAD_LIMITS.length : index + 1;
}

/** Items are immutable, so the load is computed once for each. */
const loads = new WeakMap<NodeInfo, number>();

/** How full a node is, between 0 and 1: the share of the resource of which most is requested, extended resources and the number of pods included. */
export function loadOf(item: NodeInfo): number {
  let load = loads.get(item);
  if (load === undefined) loads.set(item, (load = mostRequested(item.requested, item.allocatable, item.podOrder.length)));
  return load;
}

function mostRequested(requested: Amounts, allocatable: Amounts, pods: number): number {
  let most = Math.max(
    share(requested.milliCPU, allocatable.milliCPU),
    share(requested.memory, allocatable.memory),
    share(requested.ephemeralStorage, allocatable.ephemeralStorage),
    share(pods, allocatable.allowedPodNumber),
  );
  for (const resource in requested.scalar) most = Math.max(most, share(requested.scalar[resource]!, allocatable.scalar[resource] ?? 0));
  return most;
}
