/** The last event of each session before a node was added at the end of a run, with one click: what the new end is compared with. */
export const lastEventBeforeNode = new Map<string, number>();
