import type { Item } from "../../model/nodeList";
import type { State } from "../../model/state";

/** How the snapshot differs from the list. */
export interface ListView {
  items: Item[];
  /** The last item that the last UpdateSnapshot visited, or that has changed since; -1: none; null: unknown. */
  waterlineAfter: number | null;
  /** Visited by the last UpdateSnapshot. */
  visited: number;
  cloned: number;
  /** After the waterline. */
  untouched: number;
  /** Before it, with a newer generation than the snapshot's: the next UpdateSnapshot visits them. */
  ahead: number;
}

export function listView(state: State): ListView {
  const items = state.list.toArray();
  const walk = state.lastWalk;
  const { generation } = state.snapshot;
  let last = -1;
  let ahead = 0;
  // The list is ordered by generation: visited and later changed items are all at the head.
  for (const [place, item] of items.entries()) {
    const isAhead = item.generation > generation;
    if (isAhead) ahead += 1;
    else if (!walk?.visited.has(item.name)) break;
    last = place;
  }
  const known = walk !== null || ahead > 0;
  return {
    items,
    waterlineAfter: known && generation > 0 ? last : null,
    visited: walk?.visited.size ?? 0,
    cloned: walk?.cloned.size ?? 0,
    untouched: items.length - last - 1,
    ahead,
  };
}
