/** Animates the waterline: each UpdateSnapshot starts before headNode and moves to the item where it stopped. */
export class WaterlineAnimation {
  private walk: unknown;
  private start = -Infinity;

  /** Set the shown UpdateSnapshot, and whether it just ran: an earlier one is not animated. */
  follow(walk: unknown, now: number, fresh: boolean): void {
    if (walk === this.walk) return;
    this.walk = walk;
    this.start = fresh ? now : -Infinity;
  }

  /** The current position, fractional while it moves. */
  place(target: number, now: number, duration: number): number {
    const t = duration > 0 ? (now - this.start) / duration : 1;
    return t >= 1 ? target : -1 + (target + 1) * (1 - (1 - Math.max(0, t)) ** 2);
  }

  moving(now: number, duration: number): boolean {
    return duration > 0 && now - this.start < duration;
  }
}
