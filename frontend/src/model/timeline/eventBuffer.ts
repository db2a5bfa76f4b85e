import { boundaryAfter, boundaryBefore, isInvisible, type Unit } from "./boundaries";
import { fold } from "../state/fold";
import type { AnyEvent } from "../generated";
import { revert, type Undo } from "../state/journal";
import type { State } from "../state/state";

/** The memory for events before and after the shown moment. Weights are approximate bytes; other events are fetched again. */
export interface BufferLimits {
  behind: number;
  ahead: number;
}

export const BUFFER_LIMITS: BufferLimits = { behind: 12_000_000, ahead: 12_000_000 };
/** An event that changes more than this is not reverted: the state before it is fetched. */
const MAX_UNDO_WEIGHT = 2_000_000;

/**
 * The events around the shown moment, and how to revert those before it. A step of one event in either direction costs what
 * the event changed, independent of the cluster's size.
 */
export class EventBuffer {
  private events: AnyEvent[] = [];
  /** One for each event before the shown moment. */
  private undos: Undo[][] = [];
  private weights: number[] = [];
  private weightBehind = 0;
  private weightAhead = 0;

  constructor(
    readonly state: State,
    private readonly limits: BufferLimits = BUFFER_LIMITS,
  ) {}

  /** The shown moment. */
  get event(): number {
    return this.state.event;
  }

  /** The earliest moment that can be reached by reverting. */
  get first(): number {
    return this.event - this.undos.length;
  }

  /** The latest moment that can be reached by applying. */
  get last(): number {
    return this.first + this.events.length;
  }

  /** The event that led to the shown moment, ignoring those that change nothing visible. */
  get shown(): AnyEvent | null {
    for (let index = this.undos.length - 1; index >= 0; index--) if (!isInvisible(this.events[index]!)) return this.events[index]!;
    return null;
  }

  /** Append events. False: they do not follow the last one, or there is no room; they are fetched later. */
  append(events: readonly AnyEvent[]): boolean {
    const fresh = events.filter((event) => event.event > this.last);
    if (!fresh.length) return true;
    if (fresh[0]!.event !== this.last + 1 || this.weightAhead > this.limits.ahead) return false;
    for (const event of fresh) {
      const weight = weightOf(event);
      this.events.push(event);
      this.weights.push(weight);
      this.weightAhead += weight;
    }
    return true;
  }

  /** Go to a moment between `first` and `last`; returns the events on the way, in the order in which they were applied or reverted. */
  go(to: number): readonly AnyEvent[] {
    const from = this.undos.length;
    const target = Math.max(0, Math.min(this.events.length, to - this.first));
    if (target < from) {
      const back = this.events.slice(target, from).reverse();
      while (this.undos.length > target) this.revertOne();
      return back;
    }
    const forward = this.events.slice(from, target);
    for (const event of forward) this.applyOne(event);
    this.trim();
    return forward;
  }

  /** The end of a step forward; null: beyond the stored events. */
  after(unit: Unit): number | null {
    return this.numbered(boundaryAfter(this.events, this.undos.length, unit));
  }

  /** The end of a step back; null: before the stored events. */
  before(unit: Unit): number | null {
    return this.numbered(boundaryBefore(this.events, this.undos.length, unit));
  }

  /** The stored events after a number. */
  since(event: number): readonly AnyEvent[] {
    return this.events.slice(Math.max(0, event - this.first));
  }

  private numbered(index: number | null): number | null {
    return index === null ? null : this.first + index;
  }

  private applyOne(event: AnyEvent): void {
    const weight = this.weights[this.undos.length]!;
    if (weight > MAX_UNDO_WEIGHT) {
      fold(this.state, event);
      this.forget(this.undos.length + 1);
      this.weightAhead -= weight;
      return;
    }
    this.undos.push(
      this.state.during(() => {
        fold(this.state, event);
      }),
    );
    this.weightAhead -= weight;
    this.weightBehind += weight;
  }

  private revertOne(): void {
    revert(this.undos.pop()!);
    const weight = this.weights[this.undos.length]!;
    this.weightBehind -= weight;
    this.weightAhead += weight;
  }

  /** Discard the oldest quarter, so that discarding is rare. */
  private trim(): void {
    if (this.weightBehind <= this.limits.behind) return;
    let index = 0;
    let remaining = this.weightBehind;
    while (index < this.undos.length && remaining > this.limits.behind * 0.75) remaining -= this.weights[index++]!;
    this.forget(index);
  }

  private forget(count: number): void {
    for (const weight of this.weights.slice(0, Math.min(count, this.undos.length))) this.weightBehind -= weight;
    this.events.splice(0, count);
    this.weights.splice(0, count);
    this.undos.splice(0, count);
  }
}

/** The approximate bytes of an event and its revert function. */
function weightOf(event: AnyEvent): number {
  switch (event.t) {
    case "queueMoved":
      return 600 + 1_200 * (event.moves?.length ?? 0);
    case "snapshotUpdated":
      return 600 + 200 * ((event.visited?.length ?? 0) + (event.cloned?.length ?? 0)) + 30 * (event.nodeInfoList?.length ?? 0);
    case "cacheNode":
    case "cachePod":
      return 1_200 + 24 * (event.nodes?.length ?? 0);
    case "stageEnded":
      return 600 + 200 * (event.rejections?.length ?? 0);
    default:
      return 600;
  }
}
