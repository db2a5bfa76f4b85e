import type { Box } from "../layout/boxes";

interface Flight {
  from: Box;
  to: Box;
  start: number;
}

/**
 * Positions of moving items. An item with a new target moves there; a new item appears in place. With a duration of 0 nothing
 * moves (`prefers-reduced-motion`).
 */
export class Motion {
  private readonly at = new Map<string, Box>();
  private readonly flights = new Map<string, Flight>();

  constructor(public duration = 200) {}

  get moving(): boolean {
    return this.flights.size > 0;
  }

  /** Set an item's target. `fly` false: it jumps there. */
  place(name: string, to: Box, now: number, fly: boolean): void {
    const at = this.at.get(name);
    const flight = this.flights.get(name);
    if (!at || !fly || this.duration === 0) {
      this.at.set(name, to);
      if (flight) this.flights.delete(name);
      return;
    }
    const heading = flight ? flight.to : at;
    if (same(heading, to)) return;
    this.flights.set(name, { from: { ...this.where(name, now)! }, to, start: now });
    this.at.set(name, to);
  }

  /** The item's position at a time. */
  where(name: string, now: number): Box | undefined {
    const flight = this.flights.get(name);
    if (!flight) return this.at.get(name);
    const t = Math.min(1, (now - flight.start) / this.duration);
    if (t >= 1) {
      this.flights.delete(name);
      return flight.to;
    }
    const eased = 1 - (1 - t) ** 3;
    const { from, to } = flight;
    return {
      x: from.x + (to.x - from.x) * eased,
      y: from.y + (to.y - from.y) * eased,
      w: from.w + (to.w - from.w) * eased,
      h: from.h + (to.h - from.h) * eased,
    };
  }

  has(name: string): boolean {
    return this.at.has(name);
  }

  isFlying(name: string): boolean {
    return this.flights.has(name);
  }

  /** Forget items that no longer exist. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.at.keys())
      if (!names.has(name)) {
        this.at.delete(name);
        this.flights.delete(name);
      }
  }

  clear(): void {
    this.at.clear();
    this.flights.clear();
  }
}

function same(a: Box, b: Box): boolean {
  return a.x === b.x && a.y === b.y && a.w === b.w && a.h === b.h;
}
