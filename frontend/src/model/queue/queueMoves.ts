import type { AnyEvent, HintAnswer, QueueMoved, RequeueConsidered, RequeueDecision } from "../generated";

export type QueueName = "activeQ" | "backoffQ" | "errorBackoffQ" | "unschedulablePods";

/** v1.36: why the queue moved a pod, or did not: the event that it handled, and what the hints of the plugins answered. */
export interface Requeue {
  /** Upstream's label of the event. */
  label: string;
  /** The object of the event, such as `Node n1`; "": there is none. */
  object: string;
  answers: readonly HintAnswer[];
  strategy: NonNullable<RequeueDecision["strategy"]> | null;
  /** The event arrived during the pod's cycle. */
  inFlight: boolean;
  /** No hint was asked: the plugin that gates the pod does not wait for this event. */
  gated: boolean;
}

/** Pods that one event moved in the same way, or that stay where they are. */
export interface MoveLine {
  event: number;
  atSeconds: number;
  /** The cause, in upstream's words: a ClusterEvent's label, or an operation of the scheduler. */
  cause: string;
  from: QueueName | null;
  to: QueueName | null;
  popped: boolean;
  /** v1.36: the pods stay where they are because of their hints. */
  stays: boolean;
  /** v1.36: the pods missed this event during their cycle, and a later one decided where they went. */
  superseded: boolean;
  count: number;
  /** The first of them. */
  pods: readonly string[];
  requeue: Requeue | null;
}

const MAX_NAMED_PODS = 3;
const NAMES = { activeQ: "activeQ", backoffQ: "backoffQ", errorBackoffQ: "errorBackoffQ", unschedulable: "unschedulablePods" } as const;

/**
 * Reads the moves between the queues from events in order: grouped by source and destination, and by the decision that v1.36's queue records
 * before it moves a pod. `pod`: of this pod alone.
 */
export class MoveReader {
  private considered: RequeueConsidered | null = null;

  linesOf(events: readonly AnyEvent[], pod: string | null = null): MoveLine[] {
    return events.flatMap((event) => {
      if (event.t === "queueMoved") return this.moved(event, pod);
      if (event.t !== "requeueConsidered") return [];
      this.considered = event;
      return stayingLines(event, pod);
    });
  }

  private moved(event: QueueMoved, pod: string | null): MoveLine[] {
    const lines = new Map<string, MoveLine & { pods: string[] }>();
    for (const move of event.moves ?? []) {
      if (pod !== null && move.pod !== pod) continue;
      const from = move.source ? NAMES[move.source] : null;
      const to = move.target ? NAMES[move.target] : null;
      // A pod that is updated in place does not move.
      if (from === to) continue;
      const decision = this.considered?.decisions?.findIndex((candidate) => candidate.queue === move.target && candidate.pods.includes(move.pod)) ?? -1;
      const key = `${from}>${to}/${decision}`;
      const line = lines.get(key) ?? {
        event: event.event,
        atSeconds: event.at,
        cause: event.cause,
        from,
        to,
        popped: false,
        stays: false,
        superseded: false,
        count: 0,
        pods: [],
        requeue: decision < 0 ? null : requeueOf(this.considered!, this.considered!.decisions![decision]!),
      };
      line.count += 1;
      line.popped ||= move.popped ?? false;
      if (line.pods.length < MAX_NAMED_PODS) line.pods.push(move.pod);
      lines.set(key, line);
    }
    return [...lines.values()];
  }
}

/**
 * The lines of pods that an event did not move: they stay where they are because of their hints, or a later event that they missed decided. That a gate does not
 * wait for an event is only said of the pod that is asked about.
 */
function stayingLines(event: RequeueConsidered, pod: string | null): MoveLine[] {
  return (event.decisions ?? []).flatMap((decision): MoveLine[] => {
    const hasHints = decision.hints?.length || (pod !== null && decision.gated);
    if (decision.queue != null || !hasHints || (pod !== null && !decision.pods.includes(pod))) return [];
    const pods = pod === null ? decision.pods : [pod];
    const superseded = isSuperseded(event, decision);
    const base = { event: event.event, atSeconds: event.at, cause: event.eventLabel, from: null, to: null, popped: false, stays: !superseded, superseded };
    const requeue = { ...requeueOf(event, decision), inFlight: superseded };
    return [{ ...base, count: pods.length, pods: pods.slice(0, MAX_NAMED_PODS), requeue }];
  });
}

/** Whether pods that return from their cycle missed a later event, too: then they are in no queue yet, and only the last of the events has the queue. */
function isSuperseded(event: RequeueConsidered, decision: RequeueDecision): boolean {
  return !event.movesAll && decision.strategy != null && event.eventLabel !== "UnschedulableTimeout";
}

function requeueOf(event: RequeueConsidered, decision: RequeueDecision): Requeue {
  return {
    label: event.eventLabel,
    object: (event.new ?? "") || (event.old ?? ""),
    answers: decision.hints ?? [],
    strategy: decision.strategy ?? null,
    inFlight: decision.inFlight ?? false,
    gated: decision.gated ?? false,
  };
}
