import { MediaQuery } from "svelte/reactivity";

/** A phone: there is room to look, and none to do anything with care. */
const narrow = new MediaQuery("(max-width: 480px)");

export const screen = {
  get isPhone(): boolean {
    return narrow.current;
  },
};
