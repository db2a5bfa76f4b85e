import { MediaQuery } from "svelte/reactivity";

/** A phone-sized screen: the page is read-only. */
const narrow = new MediaQuery("(max-width: 480px)");

export const screen = {
  get isPhone(): boolean {
    return narrow.current;
  },
};
