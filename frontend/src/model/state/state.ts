import type {
  ApiCallView,
  BindingView,
  CacheImage,
  CycleView,
  InFlightEntry,
  NodeItem,
  PodGroupCycleView,
  PodGroupMembers,
  PodState,
  PreemptionView,
  QueuedPod,
  Resources,
  View,
  WatchInFlight,
  WatchView,
} from "../generated";
import { KeyedHeap } from "./heap";
import { InsertionOrderMap, Journal, JournaledMap, JournaledSet, Members, type Undo } from "./journal";
import { NodeList, NOTHING, type Amounts, type NodeInfo } from "./nodeList";

/** A QueuedPodInfo with all members. */
export type Queued = Readonly<Required<QueuedPod>>;

/** The last UpdateSnapshot: how far it went from headNode. */
export interface Walk {
  event: number;
  visited: ReadonlySet<string>;
  cloned: ReadonlySet<string>;
}

/** The state of one moment, in data structures that events change cheaply. */
export class State {
  readonly journal = new Journal();

  event = 0;
  clockSeconds = 0;
  nextStartNodeIndex = 0;
  /** No node was added, changed or deleted since this event, as far as this page knows. */
  nodesSince = 0;
  /** Why the scheduler process exited; it waits for a restart. */
  exited = "";
  /** The KubeSchedulerConfiguration as it was given; null: the default one. */
  config: View["config"] = null;

  readonly list = new NodeList(this.journal);
  /** By uid, as upstream's podStates. */
  readonly podStates = new JournaledMap<string, PodState>(this.journal);
  /** Keys of the assumed pods, which are drawn dashed. */
  readonly assumed = new JournaledSet<string>(this.journal);
  /** The same by uid: the cache can have a pod and its successor of the same name at once. */
  readonly assumedByUid = new JournaledMap<string, string>(this.journal);
  readonly nodeTree = { numNodes: 0, zones: [] as string[], tree: new JournaledMap<string, string[]>(this.journal) };
  readonly imageStates = new JournaledMap<string, CacheImage>(this.journal);

  /** v1.36: `namespace/name` of a pod group to its pods. */
  readonly podGroups = new JournaledMap<string, PodGroupMembers>(this.journal);

  readonly snapshot = {
    generation: 0,
    nodeInfoList: [] as string[],
    nodeGenerations: new JournaledMap<string, number>(this.journal),
    havePodsWithAffinity: [] as string[],
    havePodsWithRequiredAntiAffinity: [] as string[],
    usedPVCSet: [] as string[],
    /** The snapshot's value of NodeInfos for which the cache has another generation, or none. */
    stale: new JournaledMap<string, NodeInfo>(this.journal),
    /** v1.36: pods that a pod group's cycle has placed in the snapshot alone, and their nodes. */
    assumedPods: new JournaledMap<string, string>(this.journal),
    podGroups: new JournaledMap<string, PodGroupMembers>(this.journal),
  };
  lastWalk: Walk | null = null;

  readonly queue = {
    activeQ: new KeyedHeap<Queued>((pod) => pod.pod, leavesActiveQBefore, this.journal),
    backoffQ: new KeyedHeap<Queued>((pod) => pod.pod, (a, b) => this.leavesBackoffQBefore(a, b), this.journal),
    /** v1.36: pods in backoff after an error. */
    errorBackoffQ: new KeyedHeap<Queued>((pod) => pod.pod, expiresBefore, this.journal),
    /** v1.36: pods in flight (upstream: inFlightEvents), and the events since the oldest of them was popped. */
    inFlight: [] as readonly InFlightEntry[],
    /** v1.36: pods are popped from backoffQ when activeQ is empty. */
    popsFromBackoffQ: false,
    unschedulable: new InsertionOrderMap<Queued>(this.journal),
    nominated: new InsertionOrderMap<string[]>(this.journal),
    schedulingCycle: 0,
    moveRequestCycle: -1,
  };

  cycle: CycleView | null = null;
  /** v1.36: the cycle of a pod group of which `cycle` is part. */
  podGroup: PodGroupCycleView | null = null;
  bindings: BindingView[] = [];
  /** v1.36: asynchronous preemptions that have not ended, oldest first. */
  preemptions: readonly PreemptionView[] = [];
  /** v1.36: API calls that the scheduler has not made yet, in the order in which it will. */
  apiCalls: readonly ApiCallView[] = [];
  readonly api = {
    objects: new JournaledMap<string, number>(this.journal),
    inFlight: [] as WatchInFlight[],
    latencies: new JournaledMap<string, number>(this.journal),
    watches: new JournaledMap<string, WatchView>(this.journal),
    helpers: new JournaledMap<string, number>(this.journal),
  };

  /** Members that are set directly: the journal records only changes of structures. */
  private readonly parts: readonly Members[] = [this, this.nodeTree, this.snapshot, this.queue, this.api].map((part) => new Members(part));

  static of(view: View): State {
    const state = new State();
    state.load(view);
    return state;
  }

  /** Run a function and return how to revert its changes. */
  during(work: () => void): Undo[] {
    for (const part of this.parts) part.remember();
    const undos = this.journal.during(work);
    for (const part of this.parts) {
      const undo = part.undo();
      if (undo) undos.push(undo);
    }
    return undos;
  }

  assume(uid: string, pod: string): void {
    this.assumedByUid.set(uid, pod);
    this.assumed.add(pod);
  }

  unassume(uid: string): void {
    const pod = this.assumedByUid.get(uid);
    if (pod === undefined) return;
    this.assumedByUid.delete(uid);
    if (![...this.assumedByUid.values()].includes(pod)) this.assumed.delete(pod);
  }

  /** Keys of the pods that are queued, in a cycle, or in the cache. */
  podKeys(): Set<string> {
    const { activeQ, backoffQ, errorBackoffQ, unschedulable } = this.queue;
    const keys = new Set<string>();
    for (const pods of [activeQ.array, backoffQ.array, errorBackoffQ.array, unschedulable.values(), this.podStates.values()]) for (const { pod } of pods) keys.add(pod);
    if (this.cycle && !this.cycle.outcome) keys.add(this.cycle.pod);
    return keys;
  }

  /** The node of each pod in the cache, by the pod's key. */
  nodesOfPods(): Map<string, string> {
    return new Map([...this.podStates.values()].map(({ pod, node }) => [pod, node]));
  }

  /** The cache's state of a pod, by its key. */
  podState(key: string): PodState | undefined {
    for (const known of this.podStates.values()) if (known.pod === key) return known;
    return undefined;
  }

  /** Names of nodes with an assumed pod. */
  nodesOfAssumed(): Set<string> {
    const nodes = new Set<string>();
    for (const uid of this.assumedByUid.keys()) {
      const node = this.podStates.get(uid)?.node;
      if (node) nodes.add(node);
    }
    return nodes;
  }

  /** Upstream: v1.27.1 podsCompareBackoffCompleted, v1.36 lessBackoffCompletedWithPriority. */
  private leavesBackoffQBefore(a: Queued, b: Queued): boolean {
    if (!this.queue.popsFromBackoffQ || a.backoffExpirySeconds !== b.backoffExpirySeconds) return expiresBefore(a, b);
    return leavesActiveQBefore(a, b);
  }

  private load(view: View): void {
    this.event = view.event;
    this.nodesSince = view.event;
    this.clockSeconds = view.clockSeconds;
    this.nextStartNodeIndex = view.nextStartNodeIndex;
    this.exited = view.exited;
    this.config = view.config;
    const { cache, snapshot, queue } = view;
    this.list.load(cache.list.map(itemOf));
    fill(this.podStates, cache.podStates);
    for (const [uid, pod] of this.podStates) if (pod.assumed) this.assume(uid, pod.pod);
    this.nodeTree.numNodes = cache.nodeTree.numNodes;
    this.nodeTree.zones = [...cache.nodeTree.zones];
    for (const [zone, nodes] of Object.entries(cache.nodeTree.tree)) this.nodeTree.tree.set(zone, [...nodes]);
    fill(this.imageStates, cache.imageStates);

    fill(this.podGroups, cache.podGroups);

    this.snapshot.generation = snapshot.generation;
    this.snapshot.nodeInfoList = snapshot.nodeInfoList;
    fill(this.snapshot.nodeGenerations, snapshot.nodeGenerations);
    this.snapshot.havePodsWithAffinity = snapshot.havePodsWithAffinity;
    this.snapshot.havePodsWithRequiredAntiAffinity = snapshot.havePodsWithRequiredAntiAffinity;
    this.snapshot.usedPVCSet = snapshot.usedPVCSet;
    fill(this.snapshot.assumedPods, snapshot.assumedPods);
    fill(this.snapshot.podGroups, snapshot.podGroups);
    for (const [name, item] of Object.entries(snapshot.stale)) this.snapshot.stale.set(name, itemOf(item));

    this.queue.activeQ.load(queue.activeQ.map(queuedOf));
    this.queue.popsFromBackoffQ = queue.popsFromBackoffQ;
    this.queue.backoffQ.load(queue.backoffQ.map(queuedOf));
    this.queue.errorBackoffQ.load(queue.errorBackoffQ.map(queuedOf));
    this.queue.inFlight = queue.inFlight;
    for (const pod of queue.unschedulable) this.queue.unschedulable.set(pod.pod, queuedOf(pod));
    for (const [node, pods] of Object.entries(queue.nominated)) this.queue.nominated.set(node, [...pods]);
    this.queue.schedulingCycle = queue.schedulingCycle;
    this.queue.moveRequestCycle = queue.moveRequestCycle;

    this.cycle = view.cycle;
    this.podGroup = view.podGroup;
    this.lastWalk = walkOf(view);
    this.bindings = view.bindings;
    this.preemptions = view.preemptions;
    this.apiCalls = view.apiCalls;
    fill(this.api.objects, view.api.objects);
    this.api.inFlight = view.api.inFlight;
    fill(this.api.latencies, view.api.latencies);
    fill(this.api.watches, view.api.watches);
    fill(this.api.helpers, view.api.helpers);
  }
}

/**
 * The last UpdateSnapshot of a view. It has the number of visited items; because the list is ordered by generation, those are the first
 * items whose newest generation the snapshot has.
 */
function walkOf(view: View): Walk | null {
  const facts = view.cycle?.stages?.find((stage) => stage.stage === "UpdateSnapshot")?.facts;
  const visited = facts?.["visited"];
  if (typeof visited !== "number") return null;
  const newest = Object.entries(view.snapshot.nodeGenerations).sort((a, b) => b[1] - a[1]);
  const names = new Set(newest.slice(0, visited).map(([name]) => name));
  return { event: view.event, visited: names, cloned: names };
}

/** Upstream: plugins/queuesort/priority_sort.go Less. */
export function leavesActiveQBefore(a: Queued, b: Queued): boolean {
  return a.priority > b.priority || (a.priority === b.priority && a.timestampSeconds < b.timestampSeconds);
}

function expiresBefore(a: Queued, b: Queued): boolean {
  return a.backoffExpirySeconds < b.backoffExpirySeconds;
}

export function queuedOf(pod: QueuedPod): Queued {
  return {
    pod: pod.pod,
    priority: pod.priority ?? 0,
    attempts: pod.attempts ?? 0,
    timestampSeconds: pod.timestampSeconds ?? 0,
    initialAttemptTimestampSeconds: pod.initialAttemptTimestampSeconds ?? 0,
    backoffExpirySeconds: pod.backoffExpirySeconds ?? 0,
    unschedulablePlugins: pod.unschedulablePlugins ?? [],
    gated: pod.gated ?? false,
    pendingPlugins: pod.pendingPlugins ?? [],
    gatingPlugin: pod.gatingPlugin ?? "",
    unschedulableCount: pod.unschedulableCount ?? 0,
    consecutiveErrorsCount: pod.consecutiveErrorsCount ?? 0,
    wasFlushedFromUnschedulable: pod.wasFlushedFromUnschedulable ?? false,
  };
}

export function amountsOf(resources: Resources | null | undefined): Amounts {
  if (!resources) return NOTHING;
  return {
    milliCPU: resources.milliCPU ?? 0,
    memory: resources.memory ?? 0,
    ephemeralStorage: resources.ephemeralStorage ?? 0,
    allowedPodNumber: resources.allowedPodNumber ?? 0,
    scalar: resources.scalar ?? {},
  };
}

export function itemOf(item: NodeItem): NodeInfo {
  return {
    name: item.name,
    generation: item.generation ?? 0,
    hasNode: item.hasNode ?? false,
    unschedulable: item.unschedulable ?? false,
    taints: item.taints ?? [],
    zone: item.zone ?? "",
    podOrder: item.podOrder ?? [],
    podsWithAffinity: item.podsWithAffinity ?? [],
    podsWithRequiredAntiAffinity: item.podsWithRequiredAntiAffinity ?? [],
    requested: amountsOf(item.requested),
    nonZeroRequested: amountsOf(item.nonZeroRequested),
    allocatable: amountsOf(item.allocatable),
    usedPorts: item.usedPorts ?? {},
    imageStates: item.imageStates ?? {},
    declaredFeatures: item.declaredFeatures ?? [],
    pvcRefCounts: item.pvcRefCounts ?? {},
  };
}

function fill<T>(map: Map<string, T>, from: Record<string, T>): void {
  for (const [key, value] of Object.entries(from)) map.set(key, value);
}
