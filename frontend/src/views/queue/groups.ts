import type { Queued } from "../../model/state/state";

/** Pods by the plugins that rejected them (`unschedulablePlugins`), largest group first. */
export function groupedByPlugins(pods: readonly Queued[]): [plugins: string, pods: Queued[]][] {
  const groups = new Map<string, Queued[]>();
  for (const pod of pods) {
    const plugins = pod.unschedulablePlugins.join(" · ");
    const group = groups.get(plugins);
    if (group) group.push(pod);
    else groups.set(plugins, [pod]);
  }
  return [...groups].sort((a, b) => b[1].length - a[1].length);
}
