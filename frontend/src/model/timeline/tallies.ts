import type { AnyEvent } from "../generated";

/** Totals of a range of events, which the timeline draws where single marks would overlap. */
export interface Tally {
  firstEvent: number;
  /** The last event of the range, and the clock after it. */
  event: number;
  clockSeconds: number;
  cycles: number;
  scheduled: number;
  unschedulable: number;
  errors: number;
  preempted: number;
  bound: number;
  podMoves: number;
  nodeChanges: number;
}

export const COUNTS = ["cycles", "scheduled", "unschedulable", "errors", "preempted", "bound", "podMoves", "nodeChanges"] as const;

/** Beyond this number, adjacent ranges are merged in pairs. */
const MAX_TALLIES = 800;

/** A whole session in a bounded number of ranges, oldest first. Live events are counted as the server counts them. */
export class Tallies {
  list: Tally[] = [];

  load(tallies: readonly Tally[]): void {
    this.list = [...tallies];
    this.mergePairs();
  }

  /** The last event that is counted. */
  get last(): number {
    return this.list[this.list.length - 1]?.event ?? 0;
  }

  add(events: readonly AnyEvent[]): void {
    for (const event of events) if (event.event > this.last || !this.list.length) count(this.rangeFor(event), event);
    this.mergePairs();
  }

  private rangeFor(event: AnyEvent): Tally {
    const last = this.list[this.list.length - 1];
    const maxEvents = Math.max(1, Math.floor((event.event - (this.list[0]?.firstEvent ?? event.event)) / MAX_TALLIES) * 2);
    if (last && event.event - last.firstEvent < maxEvents) return last;
    const added = emptyTally(event);
    this.list.push(added);
    return added;
  }

  private mergePairs(): void {
    while (this.list.length > MAX_TALLIES) {
      const merged: Tally[] = [];
      for (let i = 0; i < this.list.length; i += 2) {
        const [a, b] = [this.list[i]!, this.list[i + 1]];
        merged.push(b ? sum(a, b) : a);
      }
      this.list = merged;
    }
  }
}

/** The ranges that overlap a window of events. */
export function talliesBetween(tallies: readonly Tally[], first: number, last: number): readonly Tally[] {
  return tallies.filter((tally) => tally.event >= first && tally.firstEvent <= last);
}

function emptyTally(event: AnyEvent): Tally {
  return {
    firstEvent: event.event,
    event: event.event,
    clockSeconds: event.at,
    cycles: 0,
    scheduled: 0,
    unschedulable: 0,
    errors: 0,
    preempted: 0,
    bound: 0,
    podMoves: 0,
    nodeChanges: 0,
  };
}

function sum(a: Tally, b: Tally): Tally {
  const whole: Tally = { ...b, firstEvent: a.firstEvent };
  for (const name of COUNTS) whole[name] += a[name];
  return whole;
}

/** As schedviz/trace/tally.py. */
function count(tally: Tally, event: AnyEvent): void {
  tally.event = event.event;
  tally.clockSeconds = event.at;
  switch (event.t) {
    case "cycleEnded":
      tally.cycles += 1;
      if (event.outcome === "scheduled") tally.scheduled += 1;
      else if (event.outcome === "unschedulable") tally.unschedulable += 1;
      else if (event.outcome === "error") tally.errors += 1;
      return;
    case "queueMoved":
      tally.podMoves += event.moves?.length ?? 0;
      return;
    case "apiWritten":
      if (event.error || event.kind !== "Pod") return;
      if (event.byScheduler && event.verb === "delete") tally.preempted += 1;
      if (event.subresource === "binding") tally.bound += 1;
      return;
    case "cacheNode":
      tally.nodeChanges += 1;
      return;
    default:
      return;
  }
}
