/**
 * The cluster events that may make an unschedulable pod schedulable: an event moves a pod out of unschedulablePods if one of
 * its unschedulablePlugins registered it. Every event moves a pod without such plugins.
 *
 * Upstream: framework/plugins, each EventsToRegister, with its feature gates as v1.27.1 sets them.
 */
const REGISTERED: Record<string, readonly string[]> = {
  NodeResourcesFit: ["Pod delete", "Node add, update"],
  SchedulingGates: ["Pod update"],
  EBSLimits: ["Node add", "Pod delete"],
  GCEPDLimits: ["Node add", "Pod delete"],
  AzureDiskLimits: ["Node add", "Pod delete"],
  CinderLimits: ["Node add", "Pod delete"],
  NodeVolumeLimits: ["CSINode add", "Pod delete"],
  VolumeBinding: [
    "StorageClass add, update",
    "PersistentVolumeClaim add, update",
    "PersistentVolume add, update",
    "Node add, label",
    "CSINode add, update",
    "CSIDriver add, update",
    "CSIStorageCapacity add, update",
  ],
  VolumeZone: ["StorageClass add", "Node add, label", "PersistentVolumeClaim add", "PersistentVolume add, update"],
  TaintToleration: ["Node add, update"],
  InterPodAffinity: ["Pod add, update, delete", "Node add, label"],
  VolumeRestrictions: ["Pod delete", "Node add", "PersistentVolumeClaim add, update"],
  NodePorts: ["Pod delete", "Node add, update"],
  PodTopologySpread: ["Pod add, update, delete", "Node add, delete, label"],
  NodeAffinity: ["Node add, update"],
  NodeName: ["Node add, update"],
  NodeUnschedulable: ["Node add, taint"],
};

/** The events that would move a pod with these plugins; null: any event, because it has none, or one of them is not in-tree. */
export function requeueEventsOf(plugins: readonly string[]): string[] | null {
  if (plugins.length === 0) return null;
  const byResource = new Map<string, Set<string>>();
  for (const plugin of plugins) {
    const registered = REGISTERED[plugin];
    if (!registered) return null;
    for (const event of registered) {
      const space = event.indexOf(" ");
      const resource = event.slice(0, space);
      const actions = byResource.get(resource) ?? new Set();
      for (const action of event.slice(space + 1).split(", ")) actions.add(action);
      byResource.set(resource, actions);
    }
  }
  // Update includes updates of labels and taints.
  for (const actions of byResource.values())
    if (actions.has("update")) {
      actions.delete("label");
      actions.delete("taint");
    }
  return [...byResource].map(([resource, actions]) => `${resource} ${[...actions].join(", ")}`);
}

/** A pod leaves unschedulablePods after this time without any event. Upstream: DefaultPodMaxInUnschedulablePodsDuration. */
export const FLUSH_AFTER_SECONDS = 300;
