import {
  foldApiWritten,
  foldHelperSet,
  foldLatencySet,
  foldWatchChanged,
  foldWatchDelivered,
  foldWatchSent,
} from "./foldApi";
import { foldCacheNode, foldCachePod, foldSnapshotUpdated } from "./foldCache";
import {
  foldBindingEnded,
  foldBindingReleased,
  foldBindingStageEnded,
  foldBindingStarted,
  foldCycleEnded,
  foldCycleStarted,
  foldPermitAnswered,
  foldStageEnded,
} from "./foldCycle";
import {
  foldPodGroupChanged,
  foldPodGroupEnded,
  foldPodGroupPodTried,
  foldPodGroupStageEnded,
  foldPodGroupStarted,
  foldSnapshotPod,
} from "./foldPodGroup";
import { foldApiCallChanged, foldPreemptionStageEnded, foldPreemptionStarted } from "./foldPreemption";
import { foldInFlightChanged, foldPodNominated, foldQueueMoved } from "./foldQueue";
import type { AnyEvent } from "../generated";
import type { State } from "./state";

/**
 * Apply one event to the state. Events are contiguous and in order. schedviz/trace/fold.py implements the same rules; a test
 * compares both with the engine's state.
 */
export function fold(state: State, event: AnyEvent): void {
  state.event = event.event;
  state.clockSeconds = event.at;
  switch (event.t) {
    case "cachePod":
      return foldCachePod(state, event);
    case "cacheNode":
      state.nodesSince = event.event;
      return foldCacheNode(state, event);
    case "snapshotUpdated":
      return foldSnapshotUpdated(state, event);
    case "queueMoved":
      return foldQueueMoved(state, event);
    case "inFlightChanged":
      return foldInFlightChanged(state, event);
    case "podNominated":
      return foldPodNominated(state, event);
    case "podGroupChanged":
      return foldPodGroupChanged(state, event);
    case "snapshotPod":
      return foldSnapshotPod(state, event);
    case "podGroupStarted":
      return foldPodGroupStarted(state, event);
    case "podGroupStageEnded":
      return foldPodGroupStageEnded(state, event);
    case "podGroupPodTried":
      return foldPodGroupPodTried(state, event);
    case "podGroupEnded":
      return foldPodGroupEnded(state, event);
    case "cycleStarted":
      return foldCycleStarted(state, event);
    case "stageEnded":
      return foldStageEnded(state, event);
    case "cycleEnded":
      return foldCycleEnded(state, event);
    case "bindingStarted":
      return foldBindingStarted(state, event);
    case "bindingReleased":
      return foldBindingReleased(state, event);
    case "permitAnswered":
      return foldPermitAnswered(state, event);
    case "bindingStageEnded":
      return foldBindingStageEnded(state, event);
    case "bindingEnded":
      return foldBindingEnded(state, event);
    case "preemptionStarted":
      return foldPreemptionStarted(state, event);
    case "preemptionStageEnded":
      return foldPreemptionStageEnded(state, event);
    case "apiCallChanged":
      return foldApiCallChanged(state, event);
    case "apiWritten":
      return foldApiWritten(state, event);
    case "watchSent":
      return foldWatchSent(state, event);
    case "watchDelivered":
      return foldWatchDelivered(state, event);
    case "latencySet":
      return foldLatencySet(state, event);
    case "watchChanged":
      return foldWatchChanged(state, event);
    case "helperSet":
      return foldHelperSet(state, event);
    case "configured":
      state.config = event.config ?? null;
      return;
    case "schedulerExited":
      state.exited = event.message;
      return;
    case "restarted":
      return restart(state);
    case "eventRecorded":
    case "extenderAnswered":
    case "clockAdvanced":
    case "commandDone":
    case "cacheCall":
      return;
  }
}

function restart(state: State): void {
  const { snapshot, queue, nodeTree } = state;
  state.list.clear();
  state.podStates.clear();
  state.assumed.clear();
  state.assumedByUid.clear();
  state.imageStates.clear();
  nodeTree.numNodes = 0;
  nodeTree.zones = [];
  nodeTree.tree.clear();
  snapshot.generation = 0;
  snapshot.nodeInfoList = [];
  snapshot.nodeGenerations.clear();
  snapshot.havePodsWithAffinity = [];
  snapshot.havePodsWithRequiredAntiAffinity = [];
  snapshot.usedPVCSet = [];
  snapshot.stale.clear();
  snapshot.assumedPods.clear();
  snapshot.podGroups.clear();
  state.podGroups.clear();
  state.lastWalk = null;
  queue.activeQ.load([]);
  queue.backoffQ.load([]);
  queue.errorBackoffQ.load([]);
  queue.inFlight = [];
  queue.unschedulable.clear();
  queue.nominated.clear();
  queue.schedulingCycle = 0;
  queue.moveRequestCycle = -1;
  state.cycle = null;
  state.podGroup = null;
  state.bindings = [];
  state.preemptions = [];
  state.apiCalls = [];
  state.nextStartNodeIndex = 0;
  state.exited = "";
}
