/** Where no frame is drawn, in a tab that is not seen for one, messages wait no longer than this. */
const LONGEST_WAIT_MILLIS = 250;

/**
 * Hands messages on, in their order, no faster than they are drawn: the first at once, and those that come before its frame is on the screen
 * together after it. Svelte does its work once for each task, and a picture that is replaced before it was seen is work for nothing: on a machine
 * that draws 10 frames a second of 12 cycles a third of what the slowest frames took was such work.
 */
export class FramePace<Message> {
  private waiting: Message[] = [];
  private drawing = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `moves`: whether something is drawn of a message. */
  constructor(
    private readonly deliver: (message: Message) => void,
    private readonly moves: (message: Message) => boolean,
  ) {}

  take(message: Message): void {
    this.waiting.push(message);
    if (!this.drawing) this.give();
  }

  /** What waits to be drawn is out of date. */
  forgetDrawn(): void {
    this.waiting = this.waiting.filter((message) => !this.moves(message));
  }

  close(): void {
    clearTimeout(this.timer);
    this.waiting = [];
  }

  private give(): void {
    this.drawing = this.waiting.some(this.moves) && !document.hidden;
    if (this.drawing) this.waitForFrame();
    for (let message = this.waiting.shift(); message !== undefined; message = this.waiting.shift()) this.deliver(message);
  }

  private waitForFrame(): void {
    const drawn = (): void => {
      this.drawing = false;
      this.give();
    };
    this.timer = setTimeout(drawn, LONGEST_WAIT_MILLIS);
    requestAnimationFrame(() => {
      if (!this.drawing) return;
      clearTimeout(this.timer);
      // A task that is asked for on a frame comes once that is laid out and painted.
      this.timer = setTimeout(drawn);
    });
  }
}
