import type { Item } from "./nodeList";
import { printZone } from "./names";

/** What a filter of nodes can ask of a node besides what its NodeInfo has. */
export interface NodeFacts {
  /** The plugin that turned the node away in the cycle that is shown; "feasible"; undefined: nobody looked, or nobody knows. */
  pluginOf(node: string): string | undefined;
}

export type NodeTest = (item: Item) => boolean;

/**
 * A filter as a person types it: words that all have to be met. `zone:a`, `pod:web`, `plugin:Taint`, and signs of the NodeInfo: `is:ghost`,
 * `is:cordoned`, `is:empty`. Any other word is a part of the node's name. Null: nothing is asked for.
 */
export function nodeFilter(text: string, facts: NodeFacts): NodeTest | null {
  const tests = text
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => testOf(word.toLowerCase(), facts));
  return tests.length ? (item) => tests.every((test) => test(item)) : null;
}

const SIGNS: Record<string, NodeTest> = {
  ghost: (item) => !item.hasNode,
  cordoned: (item) => item.unschedulable,
  empty: (item) => item.podOrder.length === 0,
};

function testOf(word: string, facts: NodeFacts): NodeTest {
  const colon = word.indexOf(":");
  const value = word.slice(colon + 1);
  switch (colon > 0 ? word.slice(0, colon) : "") {
    case "zone":
      return (item) => printZone(item.zone).toLowerCase().includes(value);
    case "pod":
      return (item) => item.podOrder.some((pod) => pod.toLowerCase().includes(value));
    case "plugin":
      return (item) => facts.pluginOf(item.name)?.toLowerCase().includes(value) ?? false;
    case "is":
      return SIGNS[value] ?? (() => false);
    default:
      return (item) => item.name.toLowerCase().includes(word);
  }
}
