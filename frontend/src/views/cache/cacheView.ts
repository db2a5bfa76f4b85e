import type { NodeOrder } from "../../model/cache/nodeOrder";
import type { NodeInfo } from "../../model/state/nodeList";
import type { State } from "../../model/state/state";

/** How the snapshot differs from the list. `ahead`, `visited` and `untouched` add up to the number of items. */
export interface ListView {
  items: NodeInfo[];
  /** The last item that the last UpdateSnapshot visited, or that has changed since; -1: none; null: unknown. */
  waterlineAfter: number | null;
  /** Changed since the snapshot was taken: the next UpdateSnapshot visits them. */
  ahead: number;
  /** Visited by the last UpdateSnapshot, and unchanged since. */
  visited: number;
  /** After the waterline. */
  untouched: number;
}

/** The nodes in an order that does not change, without the order and the waterline of the cache's list. */
export function simpleView(state: State, order: NodeOrder): ListView {
  const items = order.sorted(state.list.toArray());
  return { items, waterlineAfter: null, ahead: 0, visited: 0, untouched: 0 };
}

export function listView(state: State): ListView {
  const items = state.list.toArray();
  const walk = state.lastWalk;
  const { generation } = state.snapshot;
  let last = -1;
  let ahead = 0;
  // The list is ordered by generation: visited and later changed items are all at the head.
  for (const [index, item] of items.entries()) {
    const isAhead = item.generation > generation;
    if (isAhead) ahead += 1;
    else if (!walk?.visited.has(item.name)) break;
    last = index;
  }
  const isKnown = walk !== null || ahead > 0;
  return {
    items,
    waterlineAfter: isKnown && generation > 0 ? last : null,
    ahead,
    visited: last + 1 - ahead,
    untouched: items.length - last - 1,
  };
}
