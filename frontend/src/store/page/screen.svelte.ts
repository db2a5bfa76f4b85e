import { MediaQuery } from "svelte/reactivity";

/** A phone-sized screen: sessions can be played and stepped, and not changed otherwise. */
const narrow = new MediaQuery("(max-width: 480px)");
/** The panels of a session are below each other, and the page scrolls. */
const stacked = new MediaQuery("(max-width: 1080px)");
const touch = new MediaQuery("(hover: none) and (pointer: coarse)");

export const screen = {
  get isPhone(): boolean {
    return narrow.current;
  },
  get isStacked(): boolean {
    return stacked.current;
  },
  /** A touch screen or a phone, which usually has no keyboard: hints about keys are not shown. */
  get isTouch(): boolean {
    return touch.current || narrow.current;
  },
};
