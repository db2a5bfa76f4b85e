import type { Amounts, Item } from "./nodeList";
import type { Queued, State } from "./state";

/**
 * The state as a schedviz-trace/1 `observed` has it (`cache`, `snapshot`, `queue`): what REST's `state/` answers, and what a test
 * compares. Members that the format leaves out for a default are written here, as it does.
 */
export function observed(state: State): Record<string, unknown> {
  return { cache: observedCache(state), snapshot: observedSnapshot(state), queue: observedQueue(state) };
}

function observedCache(state: State): Record<string, unknown> {
  const podStates = [...state.podStates.entries()];
  return {
    list: state.list.toArray().map(observedItem),
    assumedPods: podStates
      .filter(([, pod]) => pod.assumed)
      .map(([uid]) => uid)
      .sort(),
    podStates: Object.fromEntries(
      podStates.map(([uid, pod]) => [
        uid,
        {
          pod: pod.pod,
          node: pod.node,
          assumed: pod.assumed ?? false,
          bindingFinished: pod.bindingFinished ?? false,
          deadlineSeconds: pod.deadlineSeconds ?? null,
        },
      ]),
    ),
    nodeTree: { numNodes: state.nodeTree.numNodes, zones: state.nodeTree.zones, tree: Object.fromEntries(state.nodeTree.tree) },
    imageStates: Object.fromEntries(state.imageStates),
  };
}

function observedItem(item: Item): Record<string, unknown> {
  return {
    name: item.name,
    generation: item.generation,
    hasNode: item.hasNode,
    pods: [...item.podOrder].sort(),
    podOrder: item.podOrder,
    podsWithAffinity: [...item.podsWithAffinity].sort(),
    podsWithRequiredAntiAffinity: [...item.podsWithRequiredAntiAffinity].sort(),
    requested: observedAmounts(item.requested),
    nonZeroRequested: observedAmounts(item.nonZeroRequested),
    allocatable: observedAmounts(item.allocatable),
    usedPorts: item.usedPorts,
    imageStates: item.imageStates,
    pvcRefCounts: item.pvcRefCounts,
  };
}

function observedAmounts(amounts: Amounts): Record<string, unknown> {
  return { ...amounts };
}

function observedSnapshot(state: State): Record<string, unknown> {
  const { snapshot } = state;
  return {
    generation: snapshot.generation,
    nodeInfoList: snapshot.nodeInfoList,
    nodeGenerations: Object.fromEntries(snapshot.nodeGenerations),
    havePodsWithAffinity: snapshot.havePodsWithAffinity,
    havePodsWithRequiredAntiAffinity: snapshot.havePodsWithRequiredAntiAffinity,
    usedPVCSet: snapshot.usedPVCSet,
  };
}

function observedQueue(state: State): Record<string, unknown> {
  const { queue } = state;
  return {
    activeQ: queue.activeQ.inPopOrder().map((pod) => observedPod(pod, true)),
    backoffQ: queue.backoffQ.inPopOrder().map((pod) => observedPod(pod, false)),
    unschedulable: [...queue.unschedulable.values()].sort((a, b) => (a.pod < b.pod ? -1 : 1)).map((pod) => observedPod(pod, false)),
    nominated: Object.fromEntries(queue.nominated),
    schedulingCycle: queue.schedulingCycle,
    moveRequestCycle: queue.moveRequestCycle,
  };
}

/** The members that v1.27.1 has; those of v1.36 are left out, as its format does. */
function observedPod(pod: Queued, active: boolean): Record<string, unknown> {
  const { backoffExpirySeconds, pendingPlugins, gatingPlugin, unschedulableCount, consecutiveErrorsCount, wasFlushedFromUnschedulable, ...rest } = pod;
  const own = { pendingPlugins, gatingPlugin, unschedulableCount, consecutiveErrorsCount, wasFlushedFromUnschedulable };
  void own;
  return active ? rest : { ...rest, backoffExpirySeconds };
}
