import type { Playback } from "../../store/playback.svelte";

/** Follows a playhead that is dragged: shows the last wanted moment, and leaves out those that were passed while one was being fetched. */
export class Scrubbing {
  private wanted: number | null = null;
  private isSeeking = false;

  constructor(private readonly playback: Pick<Playback, "seek">) {}

  to(event: number): void {
    this.wanted = event;
    if (!this.isSeeking) void this.seek();
  }

  private async seek(): Promise<void> {
    this.isSeeking = true;
    while (this.wanted !== null) {
      const event = this.wanted;
      this.wanted = null;
      await this.playback.seek(event);
    }
    this.isSeeking = false;
  }
}
