import { forgetTextWidths } from "../render/canvas";
import type { SessionStore } from "../store/session/sessionStore.svelte";

// Before the listeners of canvases, which then measure again.
document.fonts.addEventListener("loadingdone", forgetTextWidths);

/** Draws on animation frames while needed, and again when a font has loaded: `draw` returns whether it wants another frame. */
export function drawnOnFrames(draw: (now: number) => boolean): { request(): void; stop(): void } {
  let frame = 0;
  const run = (now: number): void => {
    frame = 0;
    if (draw(now)) request();
  };
  const request = (): void => {
    frame ||= requestAnimationFrame(run);
  };
  document.fonts.addEventListener("loadingdone", request);
  return {
    request,
    stop() {
      document.fonts.removeEventListener("loadingdone", request);
      cancelAnimationFrame(frame);
      frame = 0;
    },
  };
}

const stillness = matchMedia("(prefers-reduced-motion: reduce)");
/** Cached, because reading it makes the browser compute the page's style: 0.3 ms per frame. */
let isStill = stillness.matches;
stillness.addEventListener("change", () => {
  isStill = stillness.matches;
});

/** The duration of animations: shorter than the pause between two cycles, and 0 with `prefers-reduced-motion`. */
export function motionMillis(store: SessionStore): number {
  if (isStill) return 0;
  if (!store.playing) return 220;
  if (store.playback.rate === null || store.playback.rate > 8) return 0;
  return Math.min(220, 700 / store.playback.rate);
}
