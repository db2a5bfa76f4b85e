import type { Playback } from "../../store/session/playback.svelte";

/** Follows a playhead that is dragged: shows the last requested moment, and leaves out those that were passed while one was being fetched. */
export class Scrubbing {
  private requested: number | null = null;
  private isSeeking = false;

  constructor(private readonly playback: Pick<Playback, "seek">) {}

  to(event: number): void {
    this.requested = event;
    if (!this.isSeeking) void this.seek();
  }

  private async seek(): Promise<void> {
    this.isSeeking = true;
    while (this.requested !== null) {
      const event = this.requested;
      this.requested = null;
      await this.playback.seek(event);
    }
    this.isSeeking = false;
  }
}
