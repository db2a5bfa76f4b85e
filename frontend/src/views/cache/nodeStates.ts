import { t } from "../../i18n/translate";
import type { NodeInfo } from "../../model/state/nodeList";

const NONE: readonly string[] = [];
/** The taint of a cordoned node, which says no more than that. */
const CORDONED = "node.kubernetes.io/unschedulable";
/** Taints of the node controller and of roles: the last part of the key says what they mean. */
const KUBERNETES = /^node(?:-role)?\.kubernetes\.io\//;

/** What the page says about the state of a node: deleted, cordoned, and its taints. */
export function statesOf(item: NodeInfo): string[] {
  const states = taintsOf(item);
  if (item.unschedulable) states.unshift(t("nodes.cordoned"));
  if (!item.hasNode) states.unshift(t("node.ghost"));
  return states;
}

/** What keeps pods off a node, in words that fit on its card, the longest first; empty: nothing. Taints that only lower a score are left out. */
export function shortStatesOf(item: NodeInfo): readonly string[] {
  if (!item.unschedulable && item.taints.length === 0) return NONE;
  const states = taintsOf(item)
    .filter((taint) => !taint.endsWith(":PreferNoSchedule"))
    .map(shortTaint);
  if (item.unschedulable) states.unshift(t("nodes.cordoned"));
  const [first, ...others] = states;
  if (first === undefined) return NONE;
  const shortest = item.unschedulable ? t("nodes.cordoned") : t("nodes.tainted");
  return others.length ? [`${first} +${others.length}`, shortest] : [first, shortest];
}

function taintsOf(item: NodeInfo): string[] {
  return item.taints.filter((taint) => !taint.startsWith(CORDONED));
}

/** `dedicated=batch:NoSchedule` as `dedicated=batch`, `node.kubernetes.io/not-ready:NoExecute` as `not ready`. */
function shortTaint(taint: string): string {
  const withoutEffect = taint.slice(0, taint.lastIndexOf(":"));
  return KUBERNETES.test(withoutEffect) ? withoutEffect.replace(KUBERNETES, "").replaceAll("-", " ") : withoutEffect.slice(withoutEffect.indexOf("/") + 1);
}
