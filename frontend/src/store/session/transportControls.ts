import { backoffWait, hasNothingToSchedule } from "../../model/queue/backoffWait";
import type { Unit } from "../../model/timeline/boundaries";
import type { State } from "../../model/state/state";
import type { Connection } from "./connection.svelte";
import type { Playback } from "./playback.svelte";

/** The session that is controlled. */
interface Target {
  readonly playback: Playback;
  readonly connection: Connection;
  readonly mayRun: boolean;
  readonly running: boolean;
  readonly current: State | null;
}

/**
 * Step, play and pause: they move the shown moment while it is in the past, and command the engine at the head. Where only pods in backoff are
 * left, they advance the clock to the end of a backoff, because the clock of a session does not move on its own.
 */
export class TransportControls {
  /** Called when the user steps or plays. */
  onuse?: () => void;

  constructor(private readonly target: Target) {}

  step(unit: Unit = this.target.playback.unit): void {
    const { playback, mayRun } = this.target;
    this.onuse?.();
    playback.pause();
    if (playback.inThePast) {
      void playback.stepForward(unit);
      return;
    }
    if (!mayRun) return;
    playback.expectStep(unit);
    if (!this.endBackoff()) this.target.connection.send({ op: "step", unit });
  }

  stepBack(): void {
    this.onuse?.();
    void this.target.playback.stepBack();
  }

  togglePlay(): void {
    const { playback, mayRun } = this.target;
    this.onuse?.();
    if (playback.inThePast) {
      if (playback.replaying) playback.pause();
      else playback.play();
      return;
    }
    if (!mayRun) return;
    if (this.target.running) this.pauseEngine();
    else {
      playback.follow();
      this.endBackoff();
      this.runEngine();
    }
  }

  /** If pods wait for their backoff and for nothing else, advance the clock to where a flush moves some of them; false: none do. */
  endBackoff(): boolean {
    const { current, connection } = this.target;
    const wait = current && hasNothingToSchedule(current) ? backoffWait(current) : null;
    if (wait) connection.send({ op: "advance", seconds: wait.seconds });
    return wait !== null;
  }

  /** Pause the engine, whichever moment is shown. */
  pauseEngine(): void {
    this.target.connection.send({ op: "pause" });
  }

  /** Change the rate, also of what is playing. */
  setRate(rate: number | null): void {
    const { playback, mayRun } = this.target;
    playback.setRate(rate);
    if (!this.target.running || playback.inThePast || !mayRun) return;
    this.pauseEngine();
    this.runEngine();
  }

  private runEngine(): void {
    const { rate } = this.target.playback;
    this.target.connection.send({ op: "run", ...(rate === null ? {} : { rate }) });
  }
}
