import type { Requested } from "../../api/describe";
import { printAmount, printCpu } from "../../model/text/quantity";

/** The resources that any of these has, in kubectl's order. */
export function resourcesOf(...all: readonly (Requested | null)[]): string[] {
  const scalar = new Set(all.flatMap((amounts) => Object.keys(amounts?.scalar ?? {})));
  const storage = all.some((amounts) => amounts?.ephemeralStorage);
  return ["cpu", "memory", ...(storage ? ["ephemeral-storage"] : []), ...[...scalar].sort()];
}

export function amountOf(of: Requested | null, resource: string): number {
  switch (resource) {
    case "cpu":
      return of?.milliCPU ?? 0;
    case "memory":
      return of?.memory ?? 0;
    case "ephemeral-storage":
      return of?.ephemeralStorage ?? 0;
    default:
      return of?.scalar?.[resource] ?? 0;
  }
}

/** An amount of a resource in base units, as kubectl prints it: `2500m`, `2Gi`, `3`. */
export function printQuantity(resource: string, amount: number): string {
  return resource === "cpu" ? printCpu(amount) : printAmount(resource, amount);
}

/** As kubectl prints it: truncated, not rounded. Upstream: kubectl describe.go describeNodeResource */
export function percentOf(amount: number, allocatable: number): string {
  return allocatable ? `${Math.trunc((amount / allocatable) * 100)}%` : "0%";
}
