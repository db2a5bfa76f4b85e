import type { NodeInfo } from "../state/nodeList";
import { printZone } from "../names";

/** Data about a node that a filter needs besides its NodeInfo. */
export interface NodeFacts {
  /** The plugin that rejected the node in the shown cycle; "feasible"; undefined: not evaluated, or unknown. */
  pluginOf(node: string): string | undefined;
  /** The nodes that a label selector matches; undefined: not loaded yet, or not a valid selector. */
  selectedBy(selector: string): ReadonlySet<string> | undefined;
}

export type NodeTest = (item: NodeInfo) => boolean;

/**
 * A node filter: words that must all match. `zone:a`, `pod:web`, `plugin:Taint`, `label:tier=web` (as in `kubectl -l`, without spaces), and states of the NodeInfo: `is:deleted`,
 * `is:cordoned`, `is:tainted`, `is:empty`. Any other word is a substring of the node's name. Null: the filter is empty.
 */
export function nodeFilter(text: string, facts: NodeFacts): NodeTest | null {
  const tests = text
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => testOf(word, facts));
  return tests.length ? (item) => tests.every((test) => test(item)) : null;
}

const isDeleted: NodeTest = (item) => !item.hasNode;
const STATES: Record<string, NodeTest> = {
  deleted: isDeleted,
  ghost: isDeleted, // as older versions call it
  cordoned: (item) => item.unschedulable,
  tainted: (item) => item.taints.length > 0,
  empty: (item) => item.podOrder.length === 0,
};

/** The label selectors of a filter, which the server evaluates. */
export function selectorsIn(text: string): string[] {
  return [...text.matchAll(/(?:^|\s)label:(\S+)/gi)].map(([, selector]) => selector!);
}

function testOf(typed: string, facts: NodeFacts): NodeTest {
  const word = typed.toLowerCase();
  const colon = word.indexOf(":");
  const value = word.slice(colon + 1);
  switch (colon > 0 ? word.slice(0, colon) : "") {
    case "label": {
      const selected = value ? facts.selectedBy(typed.slice(colon + 1)) : undefined;
      return (item) => selected?.has(item.name) ?? false;
    }
    case "zone":
      return (item) => printZone(item.zone).toLowerCase().includes(value);
    case "pod":
      return (item) => item.podOrder.some((pod) => pod.toLowerCase().includes(value));
    case "plugin":
      return (item) => facts.pluginOf(item.name)?.toLowerCase().includes(value) ?? false;
    case "is":
      return STATES[value] ?? (() => false);
    default:
      return (item) => item.name.toLowerCase().includes(word);
  }
}
