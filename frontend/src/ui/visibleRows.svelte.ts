/** Which rows of equal height are visible in a scrolling box: only those need to be in the DOM. */

/** Extra rows above and below, so that scrolling a little shows no gap. */
const SPARE_ROWS = 6;
/** Pixels, until the box has been measured. */
const FIRST_HEIGHT = 240;

export class VisibleRows {
  readonly #count: () => number;
  readonly #rowHeight: () => number;
  #element: HTMLElement | undefined;
  #top = $state(0);
  #height = $state(FIRST_HEIGHT);
  /** The first row in the DOM, and the one after the last. */
  readonly from = $derived.by(() => Math.max(0, Math.min(this.#count(), Math.floor(this.#top / this.#rowHeight())) - SPARE_ROWS));
  readonly to = $derived.by(() => Math.min(this.#count(), Math.ceil((this.#top + this.#height) / this.#rowHeight()) + SPARE_ROWS));

  constructor(count: () => number, rowHeight: () => number) {
    this.#count = count;
    this.#rowHeight = rowHeight;
  }

  /** For `{@attach}` on the scrolling box. */
  readonly box = (element: HTMLElement): (() => void) => {
    this.#element = element;
    const scrolled = (): void => {
      this.#top = element.scrollTop;
    };
    const resized = new ResizeObserver(() => {
      this.#height = element.clientHeight;
    });
    element.addEventListener("scroll", scrolled, { passive: true });
    resized.observe(element);
    return () => {
      element.removeEventListener("scroll", scrolled);
      resized.disconnect();
      this.#element = undefined;
    };
  };

  toTop(): void {
    this.#element?.scrollTo({ top: 0 });
  }
}
