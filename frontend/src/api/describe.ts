import { call, pathOf } from "./call";

/** Amounts as the scheduler counts them; a missing one is 0. */
export interface Requested {
  milliCPU?: number;
  memory?: number;
  ephemeralStorage?: number;
  allowedPodNumber?: number;
  scalar?: Record<string, number>;
}

export interface DescribedPod {
  pod: string;
  requests: Requested;
  limits: Requested;
  /** Whether the API server has the pod on this node, not terminated. */
  assigned: boolean;
  cached: "" | "added" | "assumed";
}

export interface NodeDescription {
  node: string;
  allocatable: Requested | null;
  requests: Requested;
  limits: Requested;
  cacheAllocatable: Requested | null;
  cacheRequested: Requested | null;
  pods: DescribedPod[];
}

export interface PodDescription {
  pod: string;
  containers: { name: string; init: boolean; requests: Requested; limits: Requested }[];
  overhead: Requested;
  requests: Requested;
  limits: Requested;
  nonZeroMilliCpu: number;
  nonZeroMemory: number;
  node: string;
  allocatable: Requested | null;
}

export function describeNode(id: string, node: string, at: number, signal: AbortSignal): Promise<NodeDescription> {
  return call("GET", `sessions/${id}/describe/nodes/${pathOf(node)}/?at=${at}`, { signal });
}

export function describePod(id: string, pod: string, at: number, signal: AbortSignal): Promise<PodDescription> {
  return call("GET", `sessions/${id}/describe/pods/${pathOf(pod)}/?at=${at}`, { signal });
}
