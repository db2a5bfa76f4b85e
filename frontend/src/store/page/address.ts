import { printPermalink, type Permalink } from "../../model/permalink";

/** Browsers refuse more than a hundred changes of the address in thirty seconds. */
const MIN_INTERVAL_MILLIS = 400;

/** Keeps the address bar at the shown moment, so that copying the address copies a permalink. */
export class AddressBar {
  private permalink: Permalink = {};
  private timer: ReturnType<typeof setTimeout> | undefined;
  private written = 0;

  write(permalink: Permalink): void {
    this.permalink = permalink;
    this.timer ??= setTimeout(
      () => {
        this.flush();
      },
      Math.max(0, this.written + MIN_INTERVAL_MILLIS - performance.now()),
    );
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private flush(): void {
    this.timer = undefined;
    this.written = performance.now();
    const search = printPermalink(this.permalink, location.search);
    if (search !== location.search) history.replaceState(history.state, "", `${location.pathname}${search}${location.hash}`);
  }
}
