import type { Claim, ClaimTemplate, CounterUse, Device, DeviceClass, DeviceRequest, DeviceState, Pool } from "../../api/devices";

/** The state that is shown for a device. */
export function shownState({ state, blocked }: Device): "free" | "blocked" | DeviceState {
  return state ?? (blocked ? "blocked" : "free");
}

/** `2 × gpu.example.com`; the alternatives of a prioritized list are joined by `or`. */
export function requestText(requests: readonly DeviceRequest[], words: { all: string; or: string }): string {
  const alternatives = new Map<string, string[]>();
  for (const { deviceClass, count, name } of requests) {
    const request = name.split("/", 1)[0]!;
    alternatives.set(request, [...(alternatives.get(request) ?? []), `${count || words.all} × ${deviceClass}`]);
  }
  return [...alternatives.values()].map((texts) => texts.join(` ${words.or} `)).join(", ");
}

/** What a device is found by. */
function searchTextOfDevice(device: Device): string {
  const { name, claims = [], taints = [], tainted, attributes = {}, capacity = {} } = device;
  const values = [...Object.entries(attributes), ...Object.entries(capacity)].map(([key, value]) => `${key}=${value}`);
  return [name, shownState(device), tainted ? "tainted" : "", ...claims, ...taints, ...values].join(" ");
}

/** What a pool is found by, besides its devices. */
function searchTextOfPool({ driver, pool, node = "", incomplete }: Pool): string {
  return [node, driver, pool, incomplete ? "incomplete" : ""].join(" ");
}

/** The devices of a pool that match, each together with its pool. */
export function devicesFound(pool: Pool, matches: (text: string) => boolean): Device[] {
  const about = searchTextOfPool(pool);
  return pool.devices.filter((device) => matches(`${about} ${searchTextOfDevice(device)}`));
}

export function searchTextOfClaim({ claim, state, requests, devices = [], pods = [], constraints = [] }: Claim): string {
  const keys = requests.map(({ name, deviceClass, selectors = [] }) => [name, deviceClass, ...selectors].join(" "));
  return [claim, state, ...keys, ...constraints, ...devices.map(({ driver, pool, device }) => `${driver}/${pool}/${device}`), ...pods].join(" ");
}

export function searchTextOfClass(subject: DeviceClass | ClaimTemplate): string {
  if ("template" in subject) return [subject.template, ...subject.requests.map(({ deviceClass }) => deviceClass)].join(" ");
  return [subject.name, subject.extendedResource ?? "", ...subject.selectors].join(" ");
}

/** Counters of one name added up over their sets, such as the memory of all GPUs of a node. */
export function summedCounters(counters: readonly CounterUse[]): { counter: string; used: number; total: number; sets: number }[] {
  const sums = new Map<string, { counter: string; used: number; total: number; sets: number }>();
  for (const { counter, used, total } of counters) {
    const sum = sums.get(counter) ?? { counter, used: 0, total: 0, sets: 0 };
    sums.set(counter, { counter, used: sum.used + used, total: sum.total + total, sets: sum.sets + 1 });
  }
  return [...sums.values()];
}
