import { runCommand } from "../../api/commands";
import { forkSession, whenReady } from "../../api/forks";
import { pageOf } from "../../api/client";
import { getHints, getLesson, type Answer, type Lesson, type LessonStop, type LiveHint } from "../../api/lessons";
import { failureOf } from "../../i18n/failure";
import { stopIndexAt, stopState, type StopState } from "../../model/teaching/lessonPath";
import { idempotencyKey } from "../../model/idempotencyKey";
import { storeProgress, ProgressKeeper } from "./lessonProgress";
import { followLesson } from "./lessonReload";
import type { SessionStore } from "../session/sessionStore.svelte";

/** Guides the user through a session's lesson: forward by sending the lesson's commands, back by showing earlier moments, and off the path by any other command. */
export class LessonPlayer {
  lesson = $state.raw<Lesson | null>(null);
  index = $state(0);
  /** Answers by stop. */
  answers = $state.raw<Readonly<Record<string, Answer>>>({});
  hinted = $state(false);
  busy = $state(false);
  problem = $state("");
  /** After the last stop: the summary is shown. */
  finished = $state(false);
  /** Hints that hold in the current state. */
  liveHints = $state.raw<readonly LiveHint[]>([]);
  /** Errors in the lesson's files, while they are being written. */
  faults = $state("");
  private hintRequest: AbortController | null = null;
  private readonly progress: ProgressKeeper;
  private readonly closing = new AbortController();

  constructor(private readonly store: SessionStore) {
    this.progress = new ProgressKeeper(store.id);
    void this.begin();
  }

  close(): void {
    this.closing.abort();
    this.hintRequest?.abort();
    void this.progress.flush();
  }

  get stop(): LessonStop | null {
    return this.lesson?.stops[this.index] ?? null;
  }

  get stopState(): StopState {
    return this.lesson ? stopState(this.lesson.stops, this.index, this.store.head.event) : "ahead";
  }

  /** The answer at this stop. */
  get given(): Answer | null {
    return this.answers[this.stop?.id ?? ""] ?? null;
  }

  /** Whether the stop has a question that must be answered first. */
  get asks(): boolean {
    const { stop } = this;
    if (!stop?.question) return false;
    return this.stopState === "there" || (this.stopState === "revealed" && stop.arrived === stop.revealed && this.given === null);
  }

  /** The session that this one was forked from when the path was left; "": there is none. */
  get home(): string {
    const from = this.store.summary.forkedFrom;
    if (!from?.id || this.stopState !== "left") return "";
    return this.lesson?.stops.some(({ arrived, revealed }) => from.event === arrived || from.event === revealed) ? from.id : "";
  }

  async answer(value: Answer): Promise<void> {
    const { stop } = this;
    if (!stop) return;
    this.answers = { ...this.answers, [stop.id]: value };
    this.keep();
    await this.perform(stop, "reveal");
  }

  /** Run the commands that reveal the answer, without an answer of the user's own: others gave theirs. */
  async reveal(): Promise<Answer | null> {
    if (this.stop && !this.busy) await this.answer("");
    return this.stop?.answer?.value ?? null;
  }

  async next(): Promise<void> {
    const { lesson, stop } = this;
    if (!lesson || !stop || this.busy) return;
    if (this.asks) return;
    // A stop without a question may have commands.
    if (this.stopState === "there" && !(await this.perform(stop, "reveal"))) return;
    const following = lesson.stops[this.index + 1];
    if (!following) {
      this.finished = true;
      this.keep();
      return;
    }
    if (this.store.head.event > following.arrived || this.stopState === "past") {
      this.arriveAt(this.index + 1);
      await this.store.playback.seek(following.revealed);
      if (following.revealed >= this.store.head.event) this.store.playback.follow();
    } else if (await this.perform(following, "do")) this.arriveAt(this.index + 1);
  }

  async back(): Promise<void> {
    if (this.finished) {
      this.finished = false;
      return;
    }
    if (this.index === 0 || !this.lesson) return;
    this.arriveAt(this.index - 1);
    await this.store.playback.seek(this.lesson.stops[this.index]?.revealed ?? 0);
  }

  /** Take a stop again, or return to where the path was left: on a fork, because the session's history does not change. */
  async again(): Promise<void> {
    const { stop } = this;
    if (!stop) return;
    const answers = Object.fromEntries(Object.entries(this.answers).filter(([id]) => id !== stop.id));
    await this.forkAt(stop.arrived, this.store.session.name ?? "", stop, answers);
  }

  /** Leave the path on a fork of the shown moment; this session is not affected. */
  async tryOut(): Promise<void> {
    if (this.stop) await this.forkAt(this.store.event, "", this.stop, this.answers);
  }

  /** Return to the session whose path this fork left. */
  goHome(): void {
    if (this.home) location.assign(`${pageOf(this.home)}#stop=${this.stop?.id ?? ""}`);
  }

  /** Load the hints for the current state. */
  async lookForHints(): Promise<void> {
    this.hintRequest?.abort();
    const { stop } = this;
    if (!stop?.hints || this.finished) {
      this.liveHints = [];
      return;
    }
    const request = new AbortController();
    this.hintRequest = request;
    try {
      const hints = await getHints(this.store.id, stop.id, request.signal);
      if (!request.signal.aborted) this.liveHints = hints;
    } catch {
      // Hints are optional.
    }
  }

  private async forkAt(event: number, name: string, stop: LessonStop, answers: Readonly<Record<string, Answer>>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      const fork = await forkSession(this.store.id, { at: event, key: idempotencyKey(), ...(name ? { name } : {}) });
      await whenReady(fork.id, this.closing.signal);
      storeProgress(fork.id, { stop: stop.id, answers });
      await this.progress.flush();
      location.assign(pageOf(fork.id));
    } catch (error) {
      this.showError(error);
    } finally {
      this.busy = false;
    }
  }

  private async begin(): Promise<void> {
    try {
      const lesson = await getLesson(this.store.id);
      const stored = this.progress.of(lesson.progress);
      const stop = stopInAddress() || stored.stop;
      this.answers = stored.answers;
      const named = lesson.stops.findIndex(({ id }) => id === stop);
      this.index = named >= 0 ? named : stopIndexAt(lesson.stops, this.store.head.event);
      this.lesson = lesson;
      if (lesson.own) followLesson(lesson, () => this.stop?.id ?? "", (faults) => { this.faults = faults; }, this.closing.signal);
      // The commands of a stop run on arrival; only the first stop is reached without any.
      const before = lesson.stops[this.index - 1]?.revealed ?? 0;
      if (this.stop && this.stopState === "ahead" && this.store.head.event === before) await this.perform(this.stop, "do");
    } catch (error) {
      this.showError(error);
    }
  }

  private arriveAt(index: number): void {
    this.index = index;
    this.hinted = false;
    this.finished = false;
    this.keep();
  }

  /** Run the commands of a stop, and load the engine's answer. False: one was refused. Commands that were sent before are not repeated. */
  private async perform(stop: LessonStop, half: "do" | "reveal"): Promise<boolean> {
    this.busy = true;
    this.problem = "";
    this.store.playback.follow();
    try {
      for (const [i, command] of stop[half].entries()) await runCommand(this.store.id, { ...command, key: `lesson ${stop.id} ${half} ${i}` }, this.closing.signal);
      this.lesson = await getLesson(this.store.id);
      return true;
    } catch (error) {
      this.showError(error);
      return false;
    } finally {
      this.busy = false;
    }
  }

  private showError(error: unknown): void {
    if (error instanceof DOMException && error.name === "AbortError") return;
    this.problem = failureOf(error);
  }

  private keep(): void {
    if (this.lesson) this.progress.keep(this.lesson.name, { stop: this.stop?.id ?? "", answers: this.answers }, this.finished);
  }
}

/** The stop that the address names (`#stop=`), once: later the stored progress decides. */
function stopInAddress(): string {
  const named = /^#stop=([a-z0-9-]+)$/.exec(location.hash)?.[1] ?? "";
  if (named) history.replaceState(history.state, "", location.pathname + location.search);
  return named;
}
