import type { InFlightChanged, PodNominated, QueueMove, QueueMoved } from "../generated";
import { queuedOf, type Queued, type State } from "./state";

export function foldQueueMoved(state: State, event: QueueMoved): void {
  for (const move of event.moves ?? []) movePod(state, move);
  state.queue.schedulingCycle = event.schedulingCycle ?? 0;
  state.queue.moveRequestCycle = event.moveRequestCycle ?? 0;
}

function movePod(state: State, move: QueueMove): void {
  const { queue } = state;
  const before = take(state, move);
  const entry = move.entry ? queuedOf(move.entry) : before;
  if (!entry || !move.target) return;
  if (move.target === "unschedulable") queue.unschedulable.set(entry.pod, entry);
  else queue[move.target].add(entry);
}

/** Remove the pod from its queue; a pod that is updated in place stays, and is returned. */
function take(state: State, move: QueueMove): Queued | undefined {
  const { queue } = state;
  const inPlace = move.source === move.target;
  switch (move.source) {
    case "unschedulable": {
      const entry = queue.unschedulable.get(move.pod);
      if (!inPlace) queue.unschedulable.delete(move.pod);
      return entry;
    }
    case "activeQ":
    case "backoffQ":
    case "errorBackoffQ": {
      const heap = queue[move.source];
      if (inPlace) return heap.get(move.pod);
      return move.popped ? heap.pop() : heap.remove(move.pod);
    }
    default:
      return undefined;
  }
}

/** Add pods and events in flight, or remove a pod with the events that no other pod needs. */
export function foldInFlightChanged(state: State, event: InFlightChanged): void {
  let entries = [...state.queue.inFlight, ...(event.added ?? [])];
  if (event.done) {
    entries.splice(
      entries.findIndex((entry) => entry.uid === event.done),
      1,
    );
    const needed = entries.findIndex((entry) => entry.pod);
    entries = needed < 0 ? [] : entries.slice(needed);
  }
  state.queue.inFlight = entries;
}

export function foldPodNominated(state: State, event: PodNominated): void {
  const { nominated } = state.queue;
  for (const [node, pods] of nominated) {
    if (!pods.includes(event.pod)) continue;
    const rest = pods.filter((pod) => pod !== event.pod);
    if (rest.length) nominated.set(node, rest);
    else nominated.delete(node);
  }
  if (event.node != null) nominated.set(event.node, [...(nominated.get(event.node) ?? []), event.pod]);
}
