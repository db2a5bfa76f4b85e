import { getCycles } from "../../api/moments";
import { t } from "../../i18n/translate";
import type { Unit } from "../../model/timeline/boundaries";
import type { Permalink } from "../../model/permalink";
import type { State } from "../../model/state/state";
import { EventBuffer } from "../../model/timeline/eventBuffer";
import { fetchMoment, fetchMore } from "./moments";
import type { Notices } from "./notices.svelte";
import { ReplayTimer } from "./replayTimer";
import type { ShownMoment } from "./shownMoment.svelte";

/** The session whose history is played. */
interface Source {
  readonly id: string;
  readonly headEvent: number;
  readonly notices: Notices;
  /** Request the whole view again. */
  resync(): void;
}

/**
 * Moves the shown moment through a session's history: live, by steps, to a moment, or as a replay. It sends the engine no commands.
 * While live, the shown moment follows the head; otherwise it stays or is replayed, and new events are counted.
 */
export class Playback {
  /** LIVE: new events are shown as they arrive. */
  following = $state(true);
  /** The moment that is being fetched. */
  seeking = $state<number | null>(null);
  replaying = $state(false);
  unit = $state<Unit>("cycle");
  /** Cycles per second; null: as fast as possible. */
  rate = $state<number | null>(1);
  /** The earliest moment that the server keeps. */
  firstEvent = $state(0);

  /** How many events have happened after the shown moment. */
  readonly waitingCount = $derived.by(() => Math.max(0, this.source.headEvent - this.shown.event));
  /** Whether the shown moment is in the past, where commands do not apply. */
  readonly inThePast = $derived(!this.following && this.waitingCount > 0);

  /** Where to go as soon as the events up to there have arrived. */
  private destination: Permalink = {};
  /** Steps that were requested of the engine and whose events have not arrived. */
  private pendingSteps = 0;
  private fetching: AbortController | null = null;
  private readonly timer = new ReplayTimer((count) => this.replaySteps(count));

  constructor(
    private readonly source: Source,
    private readonly shown: ShownMoment,
  ) {}

  /** Show the newest moment, and follow. */
  follow(): void {
    this.pause();
    this.destination = {};
    this.fetching?.abort();
    this.following = true;
    this.pendingSteps = 0;
    const { buffer } = this.shown;
    if (!buffer) return;
    if (buffer.last === this.source.headEvent) this.shown.move(buffer, buffer.last);
    else this.source.resync();
  }

  /** Stay at the shown moment. */
  hold(): void {
    this.pause();
    this.destination = {};
    this.following = false;
    this.pendingSteps = 0;
  }

  /** The engine was asked for a step. Unless live, exactly this step is shown of what arrives. */
  expectStep(unit: Unit): void {
    // The engine's smallest step is a stage, which can have several mutations. So the page stops following and shows only the first.
    if (unit === "mutation") this.following = false;
    if (!this.following) this.pendingSteps += 1;
  }

  /** Show a moment: the one after an event. */
  async seek(event: number): Promise<void> {
    const { buffer } = this.shown;
    if (!buffer) return;
    this.hold();
    const to = Math.max(this.firstEvent, Math.min(event, this.source.headEvent));
    if (to >= buffer.first && to <= buffer.last) {
      this.fetching?.abort();
      this.shown.move(buffer, to);
    } else await this.fetchAround(to);
  }

  /** Show the end of a cycle; false: no cycle has this number. */
  async seekCycle(cycle: number): Promise<boolean> {
    try {
      const { results } = await getCycles(this.source.id, { after: cycle - 1, limit: 1 });
      const event = results[0]?.cycle === cycle ? results[0].lastEvent : undefined;
      if (event === undefined) return false;
      if (event <= this.source.headEvent) await this.seek(event);
      else this.goTo({ at: event });
      return true;
    } catch (error) {
      this.source.notices.showError(error);
      return false;
    }
  }

  /** Go to the moment of a permalink, as soon as the events up to there have arrived. */
  goTo(permalink: Permalink): void {
    this.destination = permalink;
    if (permalink.at !== undefined || permalink.cycle !== undefined) this.following = false;
    if (this.shown.buffer) this.goToDestination();
  }

  /** The server reported its newest event: a permalink to a later one leads there. */
  limitDestination(newest: number): void {
    const { at } = this.destination;
    if (at !== undefined && at > newest) this.destination = { ...this.destination, at: newest };
    if (this.shown.buffer) this.goToDestination();
  }

  /** One step forward; false: it reached the head. */
  async stepForward(unit: Unit): Promise<boolean> {
    const { buffer } = this.shown;
    if (!buffer || this.seeking !== null) return false;
    let end = buffer.after(unit);
    while (end === null && buffer.last < this.source.headEvent) {
      const fetching = this.beginFetching(buffer.last);
      try {
        if (!(await fetchMore(this.source.id, buffer, fetching.signal)) && buffer.event === buffer.last) return false;
      } catch (error) {
        this.source.notices.showError(error);
        return false;
      } finally {
        this.endFetching(fetching);
      }
      end = buffer.after(unit);
      // The buffer is full: go as far as it reaches.
      if (end === null && buffer.last < this.source.headEvent && buffer.event < buffer.last) break;
    }
    this.shown.move(buffer, end ?? buffer.last);
    return buffer.event < this.source.headEvent;
  }

  /** One step back. The engine stays where it is. */
  async stepBack(unit: Unit = this.unit): Promise<void> {
    const { buffer } = this.shown;
    if (!buffer || this.seeking !== null) return;
    this.hold();
    const before = buffer.before(unit);
    if (before !== null) this.shown.move(buffer, before);
    else if (buffer.first <= this.firstEvent) this.shown.move(buffer, buffer.first);
    // The preceding events are fetched up to here; then the step is like any other.
    else if (await this.fetchAround(buffer.event)) {
      const preceding = this.shown.buffer;
      if (preceding) this.shown.move(preceding, preceding.before(unit) ?? preceding.first);
    }
  }

  /** Replay what has happened, at the current rate and unit. */
  play(): void {
    this.replaying = true;
    this.timer.start(this.rate, this.unit);
  }

  pause(): void {
    this.replaying = false;
    this.timer.stop();
  }

  setRate(rate: number | null): void {
    this.rate = rate;
    if (this.replaying) this.play();
  }

  setUnit(unit: Unit): void {
    this.unit = unit;
    if (this.replaying) this.play();
  }

  /** A whole view arrived: show it, unless an earlier moment is shown. */
  load(state: State): void {
    if (this.shown.buffer && !this.following) return;
    this.shown.replace(new EventBuffer(state));
    this.goToDestination();
  }

  /** Events arrived at the head: show them if live, else only the steps that were requested. `isContinued`: the buffer has taken them. */
  advance(buffer: EventBuffer, isContinued: boolean): void {
    if (!this.following) {
      this.showPendingSteps(buffer);
      this.goToDestination();
    } else if (isContinued) this.shown.move(buffer, buffer.last);
    else this.source.resync();
  }

  close(): void {
    this.fetching?.abort();
    this.timer.stop();
  }

  private showPendingSteps(buffer: EventBuffer): void {
    while (this.pendingSteps > 0 && buffer.event < buffer.last) {
      this.pendingSteps -= 1;
      this.shown.move(buffer, buffer.after(this.unit) ?? buffer.last);
    }
  }

  private goToDestination(): void {
    const { at, cycle } = this.destination;
    if (at !== undefined) {
      // The first view may be older than the moment. The events since then follow it.
      if (at > this.source.headEvent) return;
      void this.seek(at);
    } else if (cycle !== undefined) {
      this.destination = {};
      void this.seekCycle(cycle).then((cycleFound) => {
        if (!cycleFound) this.source.notices.show("error", t("moment.noCycle", { cycle }));
      });
    }
  }

  private async replaySteps(count: number): Promise<boolean> {
    let more = true;
    for (let i = 0; i < count && more; i++) more = await this.stepForward(this.unit);
    if (!more) this.replaying = false;
    return more;
  }

  /** Fetch a moment and show it; false: the request failed, or another one replaced it. */
  private async fetchAround(event: number): Promise<boolean> {
    const fetching = this.beginFetching(event);
    try {
      const moment = await fetchMoment(this.source.id, event, this.firstEvent, fetching.signal);
      if (fetching.signal.aborted) return false;
      this.firstEvent = Math.max(this.firstEvent, moment.firstEvent);
      this.shown.replace(moment.buffer);
      return true;
    } catch (error) {
      this.source.notices.showError(error);
      return false;
    } finally {
      this.endFetching(fetching);
    }
  }

  private beginFetching(event: number): AbortController {
    this.fetching?.abort();
    this.fetching = new AbortController();
    this.seeking = event;
    return this.fetching;
  }

  private endFetching(fetching: AbortController): void {
    if (this.fetching !== fetching) return;
    this.fetching = null;
    this.seeking = null;
  }
}
