import type { NodeInfo } from "../state/nodeList";
import { bytesOf, cpuOf, printCount, printCpuAndMemory, requestedOf } from "../text/quantity";
import { printZone, shortKey } from "../names";

/** One member of a NodeInfo in the cache and in the snapshot. */
export interface MemberValues {
  name: string;
  cache: string | null;
  snapshot: string | null;
  differs: boolean;
}

/**
 * The members of a NodeInfo side by side: the cache's value, which the next UpdateSnapshot clones, and the snapshot's, which the running
 * cycle uses. Null: there is no such NodeInfo.
 */
export function memberValues(cache: NodeInfo | null, snapshot: NodeInfo | null): MemberValues[] {
  const inCache = cache ? membersOf(cache) : new Map<string, string>();
  const inSnapshot = snapshot ? membersOf(snapshot) : new Map<string, string>();
  return [...new Set([...inCache.keys(), ...inSnapshot.keys()])].map((name) => {
    const values = { cache: inCache.get(name) ?? null, snapshot: inSnapshot.get(name) ?? null };
    return { name, ...values, differs: values.cache !== values.snapshot };
  });
}

function membersOf(item: NodeInfo): Map<string, string> {
  const { requested, allocatable, nonZeroRequested } = item;
  const members: [string, string][] = [
    ["Generation", printCount(item.generation)],
    ["Requested CPU", cpuOf(requested.milliCPU, allocatable.milliCPU)],
    ["Requested memory", bytesOf(requested.memory, allocatable.memory)],
    ["Pods", `${item.podOrder.length} / ${allocatable.allowedPodNumber}`],
  ];
  if (allocatable.ephemeralStorage || requested.ephemeralStorage)
    members.push(["ephemeral-storage", bytesOf(requested.ephemeralStorage, allocatable.ephemeralStorage)]);
  for (const name of [...new Set([...Object.keys(allocatable.scalar), ...Object.keys(requested.scalar)])].sort())
    members.push([name, requestedOf(name, requested.scalar[name] ?? 0, allocatable.scalar[name] ?? 0)]);
  members.push(["NonZeroRequested", printCpuAndMemory(nonZeroRequested.milliCPU, nonZeroRequested.memory)]);
  if (item.podsWithAffinity.length) members.push(["PodsWithAffinity", listed(item.podsWithAffinity)]);
  if (item.podsWithRequiredAntiAffinity.length) members.push(["PodsWithRequiredAntiAffinity", listed(item.podsWithRequiredAntiAffinity)]);
  const ports = Object.entries(item.usedPorts).flatMap(([ip, list]) => list.map((port) => `${ip} ${port}`));
  if (ports.length) members.push(["UsedPorts", ports.join(", ")]);
  const images = Object.keys(item.imageStates).length;
  if (images) members.push(["ImageStates", printCount(images)]);
  const claims = Object.keys(item.pvcRefCounts);
  if (claims.length) members.push(["PVCRefCounts", listed(claims)]);
  members.push(["Zone", printZone(item.zone) || "–"]);
  members.push(["Node", item.hasNode ? (item.unschedulable ? "unschedulable" : "ok") : "nil"]);
  return new Map(members);
}

function listed(keys: readonly string[]): string {
  const shown = keys.slice(0, 3).map(shortKey).join(", ");
  return keys.length > 3 ? `${shown} +${keys.length - 3}` : shown;
}

/** The pods of a NodeInfo, with the side that has each: cache and snapshot may both have pods that the other lacks. */
export interface PodValue {
  pod: string;
  inCache: boolean;
  inSnapshot: boolean;
}

export function podValues(cache: NodeInfo | null, snapshot: NodeInfo | null): PodValue[] {
  const inCache = new Set(cache?.podOrder);
  const inSnapshot = new Set(snapshot?.podOrder);
  return [...new Set([...inCache, ...inSnapshot])].map((pod) => ({ pod, inCache: inCache.has(pod), inSnapshot: inSnapshot.has(pod) }));
}
