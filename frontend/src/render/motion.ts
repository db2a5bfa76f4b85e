import type { Box } from "../layout/boxes";

interface Move {
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
  private readonly moves = new Map<string, Move>();

  constructor(public duration = 200) {}

  get moving(): boolean {
    return this.moves.size > 0;
  }

  /** Set an item's target. `animate` false: it jumps there. */
  place(name: string, to: Box, now: number, animate: boolean): void {
    const at = this.at.get(name);
    const move = this.moves.get(name);
    if (!at || !animate || this.duration === 0) {
      this.at.set(name, to);
      if (move) this.moves.delete(name);
      return;
    }
    const heading = move ? move.to : at;
    if (same(heading, to)) return;
    this.moves.set(name, { from: { ...this.where(name, now)! }, to, start: now });
    this.at.set(name, to);
  }

  /** The item's position at a time. */
  where(name: string, now: number): Box | undefined {
    const move = this.moves.get(name);
    if (!move) return this.at.get(name);
    const t = Math.min(1, (now - move.start) / this.duration);
    if (t >= 1) {
      this.moves.delete(name);
      return move.to;
    }
    const eased = 1 - (1 - t) ** 3;
    const { from, to } = move;
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

  isMoving(name: string): boolean {
    return this.moves.has(name);
  }

  /** Forget items that no longer exist. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.at.keys())
      if (!names.has(name)) {
        this.at.delete(name);
        this.moves.delete(name);
      }
  }

  clear(): void {
    this.at.clear();
    this.moves.clear();
  }
}

function same(a: Box, b: Box): boolean {
  return a.x === b.x && a.y === b.y && a.w === b.w && a.h === b.h;
}
