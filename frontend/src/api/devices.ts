import { call } from "./call";

/** A member that has its default (free, empty, no) is left out. */
export type DeviceState = "allocated" | "assumed" | "inFlight";

export interface Device {
  name: string;
  /** Left out: free. */
  state?: DeviceState;
  /** Free, but the counters that it takes from have too little left. */
  blocked?: boolean;
  /** `namespace/name` of the claims that have it. */
  claims?: string[];
  /** `key=value:effect`. */
  taints?: string[];
  /** A taint keeps claims off it. */
  tainted?: boolean;
  attributes?: Record<string, string>;
  capacity?: Record<string, string>;
  counterSets?: string[];
}

export interface CounterUse {
  counterSet: string;
  counter: string;
  used: number;
  total: number;
  /** The total as written, such as `80Gi`. */
  text: string;
}

export interface Pool {
  driver: string;
  pool: string;
  generation: number;
  slices: string[];
  devices: Device[];
  /** Left out: not of one node. */
  node?: string;
  /** It lacks slices: none of its devices can be allocated. */
  incomplete?: boolean;
  counters?: CounterUse[];
}

export interface DeviceRequest {
  name: string;
  deviceClass: string;
  /** 0: all. */
  count: number;
  selectors?: string[];
}

export interface Claim {
  claim: string;
  state: DeviceState | "pending";
  requests: DeviceRequest[];
  constraints?: string[];
  devices?: { request: string; driver: string; pool: string; device: string; share?: string; consumed?: Record<string, string>; admin?: boolean }[];
  reservedFor?: string[];
  pods?: string[];
}

export interface DeviceClass {
  name: string;
  selectors: string[];
  claims: number;
  extendedResource?: string;
}

export interface ClaimTemplate {
  template: string;
  requests: DeviceRequest[];
}

export interface DeviceInventory {
  /** The number of devices by state, and of those that are `tainted`. */
  devices: Partial<Record<DeviceState | "free" | "blocked" | "tainted", number>>;
  /** The number of claims by state. */
  states: Partial<Record<DeviceState | "pending", number>>;
  pools?: Pool[];
  claims?: Claim[];
  classes?: DeviceClass[];
  templates?: ClaimTemplate[];
}

/** The devices of a session after an event; those of one node, or the claims of one pod. */
export function fetchDevices(id: string, at: number, signal: AbortSignal, of: { node?: string; pod?: string } = {}): Promise<DeviceInventory> {
  const query = new URLSearchParams({ at: String(at), ...of });
  return call("GET", `sessions/${id}/devices/?${query.toString()}`, { signal });
}
