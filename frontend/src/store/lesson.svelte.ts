import { carryOut } from "../api/commands";
import { forkSession, whenMade } from "../api/forks";
import { getLesson, type Answer, type Lesson, type LessonStop } from "../api/lessons";
import { failureOf } from "../i18n/failure";
import { placeAt, standing, type Standing } from "../model/lessonPath";
import { newKey } from "../model/newKey";
import type { Scope } from "./scope.svelte";

interface Kept {
  stop: string;
  answers: Record<string, Answer>;
}

/** Takes somebody through the lesson of a session: forward by the lesson's commands, back by looking at what was, astray by whatever they do. */
export class LessonPlayer {
  lesson = $state.raw<Lesson | null>(null);
  index = $state(0);
  /** What was answered, by stop. */
  answers = $state.raw<Record<string, Answer>>({});
  hinted = $state(false);
  busy = $state(false);
  problem = $state("");
  /** After the last stop: what to take home. */
  finished = $state(false);
  private readonly gone = new AbortController();

  constructor(private readonly scope: Scope) {
    void this.begin();
  }

  close(): void {
    this.gone.abort();
  }

  get stop(): LessonStop | null {
    return this.lesson?.stops[this.index] ?? null;
  }

  get standing(): Standing {
    return this.lesson ? standing(this.lesson.stops, this.index, this.scope.head.event) : "ahead";
  }

  /** What was answered at this stop. */
  get given(): Answer | null {
    return this.answers[this.stop?.id ?? ""] ?? null;
  }

  /** Whether there is something to answer before one goes on. */
  get asks(): boolean {
    const { stop } = this;
    if (!stop?.question) return false;
    return this.standing === "there" || (this.standing === "revealed" && stop.arrived === stop.revealed && this.given === null);
  }

  async answer(value: Answer): Promise<void> {
    const { stop } = this;
    if (!stop) return;
    this.answers = { ...this.answers, [stop.id]: value };
    this.keep();
    await this.perform(stop, "reveal");
  }

  async next(): Promise<void> {
    const { lesson, stop } = this;
    if (!lesson || !stop || this.busy) return;
    if (this.asks) return;
    // A stop that asks nothing may have something to show.
    if (this.standing === "there" && !(await this.perform(stop, "reveal"))) return;
    const following = lesson.stops[this.index + 1];
    if (!following) {
      this.finished = true;
      return;
    }
    if (this.scope.head.event > following.arrived || this.standing === "past") {
      this.arriveAt(this.index + 1);
      await this.scope.seek(following.revealed);
      if (following.revealed >= this.scope.head.event) this.scope.follow();
    } else if (await this.perform(following, "do")) this.arriveAt(this.index + 1);
  }

  async back(): Promise<void> {
    if (this.finished) {
      this.finished = false;
      return;
    }
    if (this.index === 0 || !this.lesson) return;
    this.arriveAt(this.index - 1);
    await this.scope.seek(this.lesson.stops[this.index]?.revealed ?? 0);
  }

  /** Take a stop again, or go back to where the path was left: on a fork, for what happened has happened. */
  async again(): Promise<void> {
    const { stop } = this;
    if (!stop || this.busy) return;
    this.busy = true;
    try {
      const fork = await forkSession(this.scope.id, { at: stop.arrived, key: newKey(), name: this.scope.session.name ?? "" });
      await whenMade(fork.id, this.gone.signal);
      const answers = Object.fromEntries(Object.entries(this.answers).filter(([id]) => id !== stop.id));
      keepFor(fork.id, { stop: stop.id, answers });
      location.assign(`/s/${fork.id}/`);
    } catch (error) {
      this.tell(error);
    } finally {
      this.busy = false;
    }
  }

  private async begin(): Promise<void> {
    try {
      const lesson = await getLesson(this.scope.id);
      const kept = keptFor(this.scope.id);
      const asked = /^#stop=([a-z0-9-]+)$/.exec(location.hash)?.[1] ?? kept.stop;
      this.answers = kept.answers;
      const named = lesson.stops.findIndex(({ id }) => id === asked);
      this.index = named >= 0 ? named : placeAt(lesson.stops, this.scope.head.event);
      this.lesson = lesson;
      // What leads to the stop is done on arrival; to the first one nobody has come by another.
      const before = lesson.stops[this.index - 1]?.revealed ?? 0;
      if (this.stop && this.standing === "ahead" && this.scope.head.event === before) await this.perform(this.stop, "do");
    } catch (error) {
      this.tell(error);
    }
  }

  private arriveAt(index: number): void {
    this.index = index;
    this.hinted = false;
    this.finished = false;
    this.keep();
  }

  /** Carry out what a stop does, and hear what the engine says then. False: something was refused. What was sent before is not done again. */
  private async perform(stop: LessonStop, half: "do" | "reveal"): Promise<boolean> {
    this.busy = true;
    this.problem = "";
    this.scope.follow();
    try {
      for (const [i, command] of stop[half].entries()) await carryOut(this.scope.id, { ...command, key: `lesson ${stop.id} ${half} ${i}` }, this.gone.signal);
      this.lesson = await getLesson(this.scope.id);
      return true;
    } catch (error) {
      this.tell(error);
      return false;
    } finally {
      this.busy = false;
    }
  }

  private tell(error: unknown): void {
    if (error instanceof DOMException && error.name === "AbortError") return;
    this.problem = failureOf(error);
  }

  private keep(): void {
    keepFor(this.scope.id, { stop: this.stop?.id ?? "", answers: this.answers });
  }
}

const placeOf = (session: string): string => `schedviz.lesson.${session}`;

function keepFor(session: string, kept: Kept): void {
  try {
    localStorage.setItem(placeOf(session), JSON.stringify(kept));
  } catch {
    // Without storage one begins where the session is.
  }
}

function keptFor(session: string): Kept {
  try {
    const kept = JSON.parse(localStorage.getItem(placeOf(session)) ?? "{}") as Partial<Kept>;
    return { stop: kept.stop ?? "", answers: kept.answers ?? {} };
  } catch {
    return { stop: "", answers: {} };
  }
}
