import type { PodGroupMembers } from "../generated";
import type { Amounts, NodeInfo } from "./nodeList";
import type { Queued, State } from "./state";

/**
 * The state as a schedviz-trace/1 `observed` (`cache`, `snapshot`, `queue`), as REST's `state/` returns it and tests
 * compare it. Members that the format omits for a default are omitted here, too.
 */
export function observed(state: State, release = V1_27): Record<string, unknown> {
  return { cache: observedCache(state, release), snapshot: observedSnapshot(state), queue: observedQueue(state, release) };
}

const V1_27 = "v1.27.1";

function observedCache(state: State, release: string): Record<string, unknown> {
  const podStates = [...state.podStates.entries()];
  return {
    list: state.list.toArray().map((item) => (release === V1_27 ? observedItem(item) : observedItemOfV136(item, state))),
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
          ...(release === V1_27 ? { bindingFinished: pod.bindingFinished ?? false, deadlineSeconds: pod.deadlineSeconds ?? null } : {}),
        },
      ]),
    ),
    nodeTree: { numNodes: state.nodeTree.numNodes, zones: state.nodeTree.zones, tree: Object.fromEntries(state.nodeTree.tree) },
    imageStates: Object.fromEntries(state.imageStates),
    ...observedPodGroups(state.podGroups),
  };
}

function observedItem(item: NodeInfo): Record<string, unknown> {
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

/** The number of nodes that have an image comes from the cache. */
function observedItemOfV136(item: NodeInfo, state: State): Record<string, unknown> {
  const numNodes = (name: string): number => state.imageStates.get(name)?.nodes.length ?? 0;
  const images = Object.entries(item.imageStates).map(([name, image]) => [name, { size: image.size, numNodes: numNodes(name) }]);
  return { ...observedItem(item), imageStates: Object.fromEntries(images), declaredFeatures: item.declaredFeatures };
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
    ...observedPodGroups(snapshot.podGroups),
  };
}

/** Absent if there are none. */
function observedPodGroups(groups: ReadonlyMap<string, PodGroupMembers>): Record<string, unknown> {
  return groups.size ? { podGroups: Object.fromEntries(groups) } : {};
}

function observedQueue(state: State, release: string): Record<string, unknown> {
  const { queue } = state;
  const show = (pod: Queued, active: boolean): Record<string, unknown> => observedPod(pod, active, release);
  const members = {
    activeQ: queue.activeQ.inPopOrder().map((pod) => show(pod, true)),
    backoffQ: queue.backoffQ.inPopOrder().map((pod) => show(pod, false)),
    unschedulable: [...queue.unschedulable.values()].sort((a, b) => (nameIn(a, release) < nameIn(b, release) ? -1 : 1)).map((pod) => show(pod, false)),
    nominated: Object.fromEntries(queue.nominated),
    schedulingCycle: queue.schedulingCycle,
    moveRequestCycle: queue.moveRequestCycle,
  };
  if (release === V1_27) return members;
  return {
    ...members,
    errorBackoffQ: queue.errorBackoffQ.inPopOrder().map((pod) => show(pod, false)),
    inFlightPods: queue.inFlight.filter((entry) => entry.pod).map((entry) => entry.pod),
    inFlightEvents: queue.inFlight.map(({ pod, event, old, new: after }) => (pod ? { pod } : { event, old: old || null, new: after || null })),
  };
}

/** The sort key of pods: their key, and in recordings of v1.36 their full name. */
function nameIn(pod: Queued, release: string): string {
  if (release === V1_27) return pod.pod;
  const [namespace, name] = pod.pod.split("/");
  return `${name}_${namespace}`;
}

function observedPod(pod: Queued, active: boolean, release: string): Record<string, unknown> {
  const { backoffExpirySeconds, pendingPlugins, gatingPlugin, unschedulableCount, consecutiveErrorsCount, wasFlushedFromUnschedulable, ...rest } = pod;
  if (release === V1_27) return active ? rest : { ...rest, backoffExpirySeconds };
  const members = { ...rest, pendingPlugins, gatingPlugin, unschedulableCount, consecutiveErrorsCount, wasFlushedFromUnschedulable };
  return active ? members : { ...members, backoffExpirySeconds: backoffExpirySeconds || null };
}
