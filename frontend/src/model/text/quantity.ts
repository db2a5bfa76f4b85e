import type { Amounts } from "../state/nodeList";

/** CPU as Kubernetes prints it: `500m`, `2`. */
export function printCpu(milli: number): string {
  return milli % 1000 === 0 ? String(milli / 1000) : `${milli}m`;
}

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** Bytes as Kubernetes prints them if exact (`2Gi`), else with one decimal and a sign that the number is rounded: `≈1.9Gi`. */
export function printBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && value % 1024 === 0 && unit < BINARY.length - 1) {
    value /= 1024;
    unit += 1;
  }
  if (value < 10_000) return `${value}${BINARY[unit]}`;
  while (value >= 1024 && unit < BINARY.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `≈${value < 100 ? value.toFixed(1) : value.toFixed(0)}${BINARY[unit]}`;
}

/** CPU beside a larger amount, in cpus if two decimals suffice: `1.5`, `0.25`. */
export function printCores(milli: number): string {
  return milli % 10 === 0 ? String(milli / 1000) : printCpu(milli);
}

/** CPU and memory side by side: `6.5 CPU, 5Gi`. CPU is in cpus, so that two such amounts have the same unit. */
export function printCpuAndMemory(milli: number, bytes: number): string {
  return `${milli / 1000} CPU, ${printBytes(bytes)}`;
}

/** Bytes beside a larger amount, in its unit if two decimals suffice: 1536Mi of 8Gi are `1.5Gi`. */
export function printBytesOf(bytes: number, whole: number): string {
  const unit = BINARY.indexOf(/[A-Z]i$/.exec(printBytes(whole))?.[0] ?? "");
  const hundredths = (bytes / 1024 ** unit) * 100;
  return unit > 0 && bytes > 0 && Number.isInteger(hundredths) ? `${hundredths / 100}${BINARY[unit]}` : printBytes(bytes);
}

/** What is requested of what there is: `1.5 / 4`. */
export function cpuOf(requested: number, allocatable: number): string {
  return `${printCores(requested)} / ${printCores(allocatable)}`;
}

/** What is requested of what there is: `1.5Gi / 8Gi`. */
export function bytesOf(requested: number, allocatable: number): string {
  return `${printBytesOf(requested, allocatable)} / ${printBytes(allocatable)}`;
}

/** An amount of a resource in base units (milli-cpus, bytes, a count), in short form: `2.5`, `0.25`, `≈1.9Gi`, `3`. */
export function printAmount(resource: string, amount: number): string {
  if (resource === "cpu") return String(amount / 1000);
  return isInBytes(resource) ? printBytes(amount) : printCount(amount);
}

/** The same beside a larger amount: 5632Mi of 8Gi are `5.5Gi`. */
export function printAmountOf(resource: string, amount: number, whole: number): string {
  return isInBytes(resource) ? printBytesOf(amount, whole) : printAmount(resource, amount);
}

/** What is requested of what there is of any resource: `1.5 / 4`, `1.5Gi / 8Gi`, `3 / 20`. */
export function requestedOf(resource: string, requested: number, allocatable: number): string {
  if (resource === "cpu") return cpuOf(requested, allocatable);
  return isInBytes(resource) ? bytesOf(requested, allocatable) : `${printCount(requested)} / ${printCount(allocatable)}`;
}

function isInBytes(resource: string): boolean {
  return resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-");
}

/** What is requested of what there is, the longest text first: with both units, with one if they are the same, as a percentage. */
export function amountTexts(requested: string, allocatable: string, part: number): string[] {
  const unit = /[A-Za-z]+$/;
  const isSame = unit.exec(requested)?.[0] === unit.exec(allocatable)?.[0];
  return [`${requested} / ${allocatable}`, ...(isSame && unit.test(requested) ? [`${requested.replace(unit, "")} / ${allocatable}`] : []), `${Math.round(part * 100)}%`];
}

/** A ratio between 0 and 1; a request with nothing allocatable is 1. */
export function share(requested: number, allocatable: number): number {
  if (allocatable > 0) return Math.min(1, requested / allocatable);
  return requested > 0 ? 1 : 0;
}

export interface Shares {
  cpu: number;
  memory: number;
  pods: number;
}

/** A node's utilization by the requests of its pods. */
export function shares(requested: Amounts, allocatable: Amounts, pods: number): Shares {
  return {
    cpu: share(requested.milliCPU, allocatable.milliCPU),
    memory: share(requested.memory, allocatable.memory),
    pods: share(pods, allocatable.allowedPodNumber),
  };
}

/** Seconds of the virtual clock: `12.345 s`, `4m 05s`, `2h 03m 05s`. */
export function printSeconds(seconds: number, digits = 3): string {
  if (seconds < 60) return `${seconds.toFixed(digits)} s`;
  const wholeSeconds = Math.floor(seconds);
  const two = (value: number): string => String(value).padStart(2, "0");
  if (wholeSeconds < 3600) return `${Math.floor(wholeSeconds / 60)}m ${two(wholeSeconds % 60)}s`;
  return `${Math.floor(wholeSeconds / 3600)}h ${two(Math.floor((wholeSeconds % 3600) / 60))}m ${two(wholeSeconds % 60)}s`;
}

/** How long something waits: `3 ms`, `4.2 s`, `4m 05s`. */
export function printWait(seconds: number): string {
  const millis = Math.round(seconds * 1000);
  return millis < 1000 ? `${millis} ms` : printSeconds(seconds, 1).replace(/(h \d\dm) \d\ds$/, "$1");
}

/** A measured duration: `0.4 µs`, `12 µs`, `3.1 ms`. */
export function printNanos(nanos: number): string {
  if (nanos < 10_000) return `${(nanos / 1e3).toFixed(1)} µs`;
  if (nanos < 1e6) return `${Math.round(nanos / 1e3)} µs`;
  return `${(nanos / 1e6).toFixed(nanos < 1e8 ? 1 : 0)} ms`;
}

const counts = new Intl.NumberFormat("en", { useGrouping: true });

/** A count with thousands separators: `1,523`. */
export function printCount(count: number): string {
  // Most are small integers, which need no formatter.
  return Number.isInteger(count) && count >= 0 && count < 1000 ? String(count) : counts.format(count);
}
