import { compareNames } from "../names";

/** The prefix of the names of nodes that the page adds at the end of a run. */
export const ADDED_NODE_PREFIX = "added-";

/**
 * The positions of nodes on a page: by name, and nodes that are added later come last, so that none moves. A node that is gone keeps its
 * position, because a step back brings it back.
 */
export class NodeOrder {
  private readonly places = new Map<string, number>();

  /** A sorted copy. Names that are new get the next positions. */
  sorted<Node extends { readonly name: string }>(nodes: readonly Node[]): Node[] {
    const names = nodes.map(({ name }) => name).filter((name) => !this.places.has(name));
    for (const name of names.sort(byName)) this.places.set(name, this.places.size);
    return [...nodes].sort((a, b) => this.places.get(a.name)! - this.places.get(b.name)!);
  }
}

function byName(a: string, b: string): number {
  return Number(a.startsWith(ADDED_NODE_PREFIX)) - Number(b.startsWith(ADDED_NODE_PREFIX)) || compareNames(a, b);
}
