/** The waterline's way over the list: each walk of UpdateSnapshot begins before headNode and goes on to where it stops. */
export class Sweep {
  private walk: unknown;
  private start = -Infinity;

  /** Say which walk is shown, and whether it was just made: a walk that was found made long ago does not move. */
  follow(walk: unknown, now: number, fresh: boolean): void {
    if (walk === this.walk) return;
    this.walk = walk;
    this.start = fresh ? now : -Infinity;
  }

  /** How far it has come, between two places while it moves. */
  place(target: number, now: number, duration: number): number {
    const t = duration > 0 ? (now - this.start) / duration : 1;
    return t >= 1 ? target : -1 + (target + 1) * (1 - (1 - Math.max(0, t)) ** 2);
  }

  moving(now: number, duration: number): boolean {
    return duration > 0 && now - this.start < duration;
  }
}
