import { searchOf, type Place } from "../model/permalink";

/** Browsers refuse more than a hundred changes of the address in thirty seconds. */
const MIN_INTERVAL_MILLIS = 400;

/** Keeps the address bar at the shown moment, so that copying the address copies a permalink. */
export class AddressBar {
  private place: Place = {};
  private timer: ReturnType<typeof setTimeout> | undefined;
  private written = 0;

  write(place: Place): void {
    this.place = place;
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
    const search = searchOf(this.place, location.search);
    if (search !== location.search) history.replaceState(history.state, "", `${location.pathname}${search}${location.hash}`);
  }
}
