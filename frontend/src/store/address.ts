import { searchOf, type Place } from "../model/permalink";

/** Browsers refuse to have the address changed more often than a hundred times in thirty seconds. */
const MILLIS = 400;

/** Keeps the address bar on the place that is shown, so that copying the address is copying the moment. */
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
      Math.max(0, this.written + MILLIS - performance.now()),
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
