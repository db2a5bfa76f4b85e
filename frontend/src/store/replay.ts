import type { Unit } from "../model/boundaries";

/** How much finer a unit is than a cycle: played by mutation, time goes as fast as played by cycle, about. */
const FINER: Record<Unit, number> = { cycle: 1, stage: 4, mutation: 8 };
const SHORTEST_MILLIS = 33;
/** As fast as it can: so many cycles a second. */
const FASTEST = 200;

/** Steps again and again through what has happened, at a speed. It commands nothing. */
export class Replay {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private due = 0;

  /** `step` takes a number of steps and says whether there is more. */
  constructor(private readonly step: (count: number) => Promise<boolean>) {}

  get on(): boolean {
    return this.timer !== undefined;
  }

  /** `rate` is in cycles a second; null: as fast as it can. */
  start(rate: number | null, unit: Unit): void {
    this.stop();
    const perSecond = (rate ?? FASTEST) * FINER[unit];
    const millis = Math.max(SHORTEST_MILLIS, 1_000 / perSecond);
    this.due = 0;
    const tick = (): void => {
      this.due += (perSecond * millis) / 1_000;
      const count = Math.floor(this.due + 1e-9);
      this.due -= count;
      void this.step(count).then((more) => {
        if (this.timer === undefined) return;
        if (more) this.timer = setTimeout(tick, millis);
        else this.stop();
      });
    };
    this.timer = setTimeout(tick, millis);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
