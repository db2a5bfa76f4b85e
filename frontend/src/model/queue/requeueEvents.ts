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

/** What differs in v1.36, whose queueing hints then decide for each event and pod. Upstream: framework/plugins, each EventsToRegister. */
const REGISTERED_V1_36: Record<string, readonly string[]> = {
  ...REGISTERED,
  DefaultPreemption: ["Pod delete"],
  DynamicResources: ["Node add, allocatable, label", "ResourceClaim add, update", "Pod claims", "DeviceClass add, update", "ResourceSlice add, update"],
  GangScheduling: ["Pod add", "PodGroup add"],
  InterPodAffinity: ["Pod add, label, delete", "Node add, label"],
  NodeAffinity: ["Node add, label"],
  NodeDeclaredFeatures: ["Node add, declared features", "Pod update"],
  NodeName: ["Node add"],
  NodePorts: ["Pod delete", "Node add"],
  NodeResourcesFit: ["Pod delete, scale down", "Node add, allocatable", "DeviceClass add, update"],
  NodeUnschedulable: ["Node add, taint", "Pod toleration"],
  NodeVolumeLimits: ["CSINode add, update", "Pod delete", "PersistentVolumeClaim add", "VolumeAttachment delete"],
  PodTopologySpread: ["Pod add, label, toleration, delete", "Node add, label, taint, delete"],
  SchedulingGates: ["Pod gates"],
  TaintToleration: ["Node add, taint", "Pod toleration"],
  VolumeBinding: [
    "StorageClass add, update",
    "PersistentVolumeClaim add, update",
    "PersistentVolume add, update",
    "Node add, label",
    "CSINode add, update",
    "CSIDriver update",
    "CSIStorageCapacity add, update",
  ],
  VolumeRestrictions: ["Pod delete", "Node add", "PersistentVolumeClaim add"],
  VolumeZone: ["StorageClass add", "Node add, label", "PersistentVolumeClaim add, update", "PersistentVolume add, update"],
};

/** The events that would move a pod with these plugins; null: any event, because it has none, or one of them is not in-tree. */
export function requeueEventsOf(plugins: readonly string[], release = "v1.27.1"): string[] | null {
  const registeredIn = release === "v1.36" ? REGISTERED_V1_36 : REGISTERED;
  if (plugins.length === 0) return null;
  const byResource = new Map<string, Set<string>>();
  for (const plugin of plugins) {
    const registered = registeredIn[plugin];
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
