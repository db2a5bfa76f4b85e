import type { Unit } from "../../model/timeline/boundaries";

/** The number of steps of a unit in a typical cycle, so that a rate means the same in every unit. */
const STEPS_PER_CYCLE: Record<Unit, number> = { cycle: 1, stage: 4, mutation: 8 };
const MIN_STEP_MILLIS = 33;
/** Cycles per second if the rate is "as fast as possible". */
const MAX_CYCLES_PER_SECOND = 200;

/** Calls for steps at a rate, until there are no more or it is stopped. */
export class ReplayTimer {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private due = 0;

  /** `step` takes this many steps and returns whether there are more. */
  constructor(private readonly step: (count: number) => Promise<boolean>) {}

  get on(): boolean {
    return this.timer !== undefined;
  }

  /** `rate`: cycles per second; null: as fast as possible. */
  start(rate: number | null, unit: Unit): void {
    this.stop();
    const perSecond = (rate ?? MAX_CYCLES_PER_SECOND) * STEPS_PER_CYCLE[unit];
    const millis = Math.max(MIN_STEP_MILLIS, 1_000 / perSecond);
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
