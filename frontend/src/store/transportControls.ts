import type { Unit } from "../model/boundaries";
import type { Connection } from "./connection.svelte";
import type { Playback } from "./playback.svelte";

/** The session that is controlled. */
interface Target {
  readonly playback: Playback;
  readonly connection: Connection;
  readonly mayRun: boolean;
  readonly running: boolean;
}

/** Step, play and pause: they move the shown moment while it is in the past, and command the engine at the head. */
export class TransportControls {
  constructor(private readonly target: Target) {}

  step(unit: Unit = this.target.playback.unit): void {
    const { playback, mayRun } = this.target;
    playback.pause();
    if (playback.inThePast) {
      void playback.stepForward(unit);
      return;
    }
    if (!mayRun) return;
    playback.expectStep(unit);
    this.target.connection.send({ op: "step", unit });
  }

  togglePlay(): void {
    const { playback, mayRun } = this.target;
    if (playback.inThePast) {
      if (playback.replaying) playback.pause();
      else playback.play();
      return;
    }
    if (!mayRun) return;
    if (this.target.running) this.pauseEngine();
    else {
      playback.follow();
      this.runEngine();
    }
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
