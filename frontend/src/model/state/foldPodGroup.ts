import type {
  CycleEnded,
  CycleView,
  PodGroupChanged,
  PodGroupCycleView,
  PodGroupEnded,
  PodGroupMembers,
  PodGroupPodTried,
  PodGroupPodView,
  PodGroupStageEnded,
  PodGroupStarted,
  SnapshotPod,
  StageEnded,
} from "../generated";
import type { State } from "./state";

/** The scheduling cycle of a pod group. Its pods are tried one after the other; then their cycles end in turn. */
export function foldPodGroupStarted(state: State, event: PodGroupStarted): void {
  state.cycle = null;
  state.podGroup = {
    group: event.group,
    profile: event.profile ?? "",
    atSeconds: event.at,
    pods: (event.pods ?? []).map((pod) => ({ pod })),
  };
}

export function foldPodGroupStageEnded(state: State, event: PodGroupStageEnded): void {
  const { podGroup } = state;
  if (!podGroup) return;
  const facts = event.facts ?? {};
  const stage = { stage: event.stage, statuses: event.statuses ?? [], rejections: [], facts };
  const placement = facts["placement"];
  state.podGroup = {
    ...podGroup,
    stages: [...(podGroup.stages ?? []), stage],
    nextStage: event.nextStage ?? "",
    placement: typeof placement === "string" ? placement : (podGroup.placement ?? ""),
  };
}

export function foldPodGroupPodTried(state: State, event: PodGroupPodTried): void {
  changePod(state, event.pod, {
    cycle: event.cycle ?? 0,
    node: event.node ?? "",
    code: event.code ?? "",
    message: event.message ?? "",
    permit: event.permit ?? "",
    requiresPreemption: event.requiresPreemption ?? false,
  });
}

export function foldPodGroupEnded(state: State, event: PodGroupEnded): void {
  if (!state.podGroup) return;
  state.podGroup = {
    ...state.podGroup,
    nextStage: "",
    outcome: event.outcome,
    message: event.message ?? "",
    waitingOnPreemption: event.waitingOnPreemption ?? false,
  };
}

/** A cycle began: of a pod alone, or of a pod of the group, perhaps once more. */
export function beginCycle(state: State, cycle: CycleView): void {
  if (!cycle.podGroup) state.podGroup = null;
  else changePod(state, cycle.pod, { cycle: cycle.cycle, node: "", code: "", message: "", permit: "", requiresPreemption: false });
  putCycle(state, cycle);
}

/** The cycle that an event belongs to. */
export function cycleOf(state: State, event: StageEnded | CycleEnded): CycleView | null {
  const { podGroup } = state;
  if (!podGroup || podGroup.outcome) return state.cycle;
  return podGroup.cycles?.find((cycle) => cycle.cycle === (event.cycle ?? 0)) ?? null;
}

/** Store a cycle that went on, or ended, as the current one, and in its pod group. */
export function putCycle(state: State, cycle: CycleView): void {
  state.cycle = cycle;
  const { podGroup } = state;
  if (!podGroup || cycle.podGroup !== podGroup.group) return;
  const cycles = podGroup.cycles ?? [];
  const isKnown = cycles.some((other) => other.cycle === cycle.cycle);
  state.podGroup = {
    ...podGroup,
    cycles: isKnown ? cycles.map((other) => (other.cycle === cycle.cycle ? cycle : other)) : [...cycles, cycle],
  };
  changePod(state, cycle.pod, { cycle: cycle.cycle, outcome: cycle.outcome ?? "" });
}

export function foldPodGroupChanged(state: State, event: PodGroupChanged): void {
  setGroup(state.podGroups, event.group, event.members);
}

export function foldSnapshotPod(state: State, event: SnapshotPod): void {
  const { snapshot } = state;
  if (event.op === "assume") snapshot.assumedPods.set(event.pod, event.node);
  else snapshot.assumedPods.delete(event.pod);
  setGroup(snapshot.podGroups, event.group, event.members);
}

interface Groups {
  set(group: string, members: PodGroupMembers): unknown;
  delete(group: string): unknown;
}

/** Absent: no pod of the group is left. */
export function setGroup(groups: Groups, group: string, members: PodGroupMembers | null | undefined): void {
  if (members) groups.set(group, members);
  else groups.delete(group);
}

function changePod(state: State, pod: string, members: Partial<PodGroupPodView>): void {
  const group: PodGroupCycleView | null = state.podGroup;
  if (!group) return;
  state.podGroup = { ...group, pods: (group.pods ?? []).map((other) => (other.pod === pod ? { ...other, ...members } : other)) };
}
