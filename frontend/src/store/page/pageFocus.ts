/** What opens over the page, or beside its panels, and closes again. */
const OVERLAYS = ".drawer, .sheet, .tour, dialog";

/** The element of the page itself that had the focus last. */
let last: HTMLElement | null = null;

/** Follow the focus until the returned function is called. */
export function followFocus(): () => void {
  const follow = ({ target }: FocusEvent): void => {
    if (target instanceof HTMLElement && !target.closest(OVERLAYS)) last = target;
  };
  addEventListener("focusin", follow);
  return () => {
    removeEventListener("focusin", follow);
    last = null;
  };
}

/** Return the focus to the page: to the element that had it last, else to the panels. Does nothing while another element has it. */
export function returnFocus(): void {
  const { activeElement } = document;
  if (activeElement && activeElement !== document.body && !activeElement.closest(".drawer, .tour")) return;
  const target = last?.isConnected && !last.matches(":disabled") ? last : document.querySelector("main");
  if (!target) return;
  if (target.tabIndex < 0 && !target.hasAttribute("tabindex")) target.tabIndex = -1;
  target.focus({ preventScroll: true });
}

/** Run an action whose button may be disabled or replaced meanwhile, which loses the focus; then return it, else give it to `otherwise`. */
export async function keepFocus(action: () => unknown, otherwise: () => HTMLElement | null | undefined = () => null): Promise<void> {
  const before = document.activeElement;
  await action();
  // The page is drawn with the result first.
  await new Promise(requestAnimationFrame);
  if (!(before instanceof HTMLElement)) return;
  const isDisabled = before.matches(":disabled");
  // A disabled element keeps the focus until the frame is drawn.
  if (document.activeElement !== document.body && !(isDisabled && document.activeElement === before)) return;
  if (before.isConnected && !isDisabled) before.focus({ preventScroll: true });
  else otherwise()?.focus({ preventScroll: true });
}
