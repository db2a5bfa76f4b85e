/** The fading edge of the list of stages (CyclePane.svelte). */
const FADE = 20;

/** Scroll the stages until the whole result is visible, but no further than to its beginning. The first stages stay in view if there is room. */
export function revealResult(list: HTMLElement | undefined, selector: string): void {
  const result = list?.querySelector(selector);
  if (!list || !result) return;
  const [outer, inner] = [list.getBoundingClientRect(), result.getBoundingClientRect()];
  const below = inner.bottom + FADE - outer.bottom;
  if (below > 0) list.scrollBy({ top: Math.min(below, inner.top - outer.top) * (list.clientHeight / outer.height) });
}
