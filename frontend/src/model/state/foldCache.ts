import type { CacheNode, CachePod, ImageChange, NodeChange, SnapshotUpdated, TreeChange } from "../generated";
import type { NodeInfo } from "./nodeList";
import { setGroup } from "./foldPodGroup";
import { amountsOf, itemOf, type State } from "./state";

export function foldCachePod(state: State, event: CachePod): void {
  for (const change of event.nodes ?? []) changeNode(state, change);
  if (event.insteadOf) state.podStates.delete(event.insteadOf);
  if (event.state) state.podStates.set(event.uid, event.state);
  else state.podStates.delete(event.uid);
  if (event.state?.assumed) state.assume(event.uid, event.pod);
  else state.unassume(event.uid);
}

export function foldCacheNode(state: State, event: CacheNode): void {
  for (const change of event.nodes ?? []) changeNode(state, change);
  if (event.tree) changeTree(state, event.node, event.tree);
  for (const change of event.images ?? []) changeImage(state, event.node, change);
}

/** What was cloned becomes the snapshot's value; the old values are discarded. */
export function foldSnapshotUpdated(state: State, event: SnapshotUpdated): void {
  const { snapshot } = state;
  snapshot.generation = event.generation;
  for (const name of event.cloned ?? []) {
    const item = state.list.get(name);
    if (item) snapshot.nodeGenerations.set(name, item.generation);
    snapshot.stale.delete(name);
  }
  for (const name of event.removed ?? []) {
    snapshot.nodeGenerations.delete(name);
    snapshot.stale.delete(name);
  }
  snapshot.nodeInfoList = event.nodeInfoList ?? snapshot.nodeInfoList;
  snapshot.havePodsWithAffinity = event.havePodsWithAffinity ?? snapshot.havePodsWithAffinity;
  snapshot.havePodsWithRequiredAntiAffinity = event.havePodsWithRequiredAntiAffinity ?? snapshot.havePodsWithRequiredAntiAffinity;
  snapshot.usedPVCSet = event.usedPVCSet ?? snapshot.usedPVCSet;
  for (const [group, members] of Object.entries(event.podGroups ?? {})) setGroup(snapshot.podGroups, group, members);
  state.lastWalk = { event: event.event, visited: new Set(event.visited), cloned: new Set(event.cloned) };
}

function changeNode(state: State, change: NodeChange): void {
  const before = state.list.get(change.node);
  if (before) keepForSnapshot(state, before);
  if (change.dropped) state.list.remove(change.node);
  else state.list.toHead(changed(before ?? itemOf({ name: change.node }), change));
}

/** Until now cache and snapshot shared the value: keep it for the snapshot before the cache changes. */
function keepForSnapshot(state: State, before: NodeInfo): void {
  const { nodeGenerations, stale } = state.snapshot;
  if (nodeGenerations.has(before.name) && !stale.has(before.name)) stale.set(before.name, before);
}

function changed(item: NodeInfo, change: NodeChange): NodeInfo {
  const added = change.added ?? [];
  const removed = change.removed ?? [];
  const pods = (before: readonly string[], after: typeof added): readonly string[] =>
    removed.length || after.length ? [...without(before, removed), ...after.map((pod) => pod.pod)] : before;
  const followed = {
    podOrder: pods(item.podOrder, added),
    podsWithAffinity: pods(
      item.podsWithAffinity,
      added.filter((pod) => pod.affinity),
    ),
    podsWithRequiredAntiAffinity: pods(
      item.podsWithRequiredAntiAffinity,
      added.filter((pod) => pod.requiredAntiAffinity),
    ),
  };
  return {
    name: item.name,
    generation: change.generation,
    hasNode: change.hasNode ?? item.hasNode,
    unschedulable: change.unschedulable ?? item.unschedulable,
    taints: change.taints ?? item.taints,
    zone: change.zone ?? item.zone,
    podOrder: change.podOrder ?? followed.podOrder,
    podsWithAffinity: change.podsWithAffinity ?? followed.podsWithAffinity,
    podsWithRequiredAntiAffinity: change.podsWithRequiredAntiAffinity ?? followed.podsWithRequiredAntiAffinity,
    requested: change.requested ? amountsOf(change.requested) : item.requested,
    nonZeroRequested: change.nonZeroRequested ? amountsOf(change.nonZeroRequested) : item.nonZeroRequested,
    allocatable: change.allocatable ? amountsOf(change.allocatable) : item.allocatable,
    usedPorts: change.usedPorts ?? item.usedPorts,
    imageStates: change.imageStates ?? item.imageStates,
    declaredFeatures: change.declaredFeatures ?? item.declaredFeatures,
    pvcRefCounts: change.pvcRefCounts ?? item.pvcRefCounts,
  };
}

/** Removal moves the last element into the gap. Upstream: framework/types.go removeFromSlice. */
function without(pods: readonly string[], removed: readonly string[]): string[] {
  const remaining = [...pods];
  for (const pod of removed) {
    const index = remaining.indexOf(pod);
    if (index < 0) continue;
    const last = remaining.pop()!;
    if (index < remaining.length) remaining[index] = last;
  }
  return remaining;
}

function changeTree(state: State, node: string, change: TreeChange): void {
  const { nodeTree } = state;
  if (change.left != null) {
    const rest = (nodeTree.tree.get(change.left) ?? []).filter((name) => name !== node);
    nodeTree.numNodes -= 1;
    if (rest.length) nodeTree.tree.set(change.left, rest);
    else {
      nodeTree.tree.delete(change.left);
      nodeTree.zones = nodeTree.zones.filter((zone) => zone !== change.left);
    }
  }
  if (change.joined != null) {
    if (!nodeTree.tree.has(change.joined)) nodeTree.zones = [...nodeTree.zones, change.joined];
    nodeTree.tree.set(change.joined, [...(nodeTree.tree.get(change.joined) ?? []), node]);
    nodeTree.numNodes += 1;
  }
}

function changeImage(state: State, node: string, change: ImageChange): void {
  const nodes = new Set(state.imageStates.get(change.image)?.nodes);
  if (change.onNode) nodes.add(node);
  else nodes.delete(node);
  if (nodes.size) state.imageStates.set(change.image, { size: change.size, nodes: [...nodes].sort() });
  else state.imageStates.delete(change.image);
}
