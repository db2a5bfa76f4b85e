/** The longest time that messages wait where no frame is drawn, such as in a hidden tab. */
const MAX_WAIT_MILLIS = 250;

/**
 * Delivers messages in order, no faster than frames are drawn: the first at once, and those that arrive before its frame is painted together
 * after it. Otherwise Svelte would render pictures that are replaced before they are visible.
 */
export class FramePace<Message> {
  private waiting: Message[] = [];
  private drawing = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `moves`: whether a message changes the picture. */
  constructor(
    private readonly deliver: (message: Message) => void,
    private readonly moves: (message: Message) => boolean,
  ) {}

  take(message: Message): void {
    this.waiting.push(message);
    if (!this.drawing) this.give();
  }

  /** Discard waiting messages that change the picture: they are out of date. */
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
    this.timer = setTimeout(drawn, MAX_WAIT_MILLIS);
    requestAnimationFrame(() => {
      if (!this.drawing) return;
      clearTimeout(this.timer);
      // A task queued in an animation frame runs after that frame is painted.
      this.timer = setTimeout(drawn);
    });
  }
}
