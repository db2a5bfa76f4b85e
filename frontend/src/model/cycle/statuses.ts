/** The codes of a Status; each has one color and one glyph, on every panel. Upstream: framework/interface.go Code */
export const STATUS_CODES = ["Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip", "Pending"] as const;

export type StatusCode = (typeof STATUS_CODES)[number];

/** Whether a plugin rejected the pod or the node. Upstream: v1.36 framework/interface.go Status.IsRejected */
export function isRejection(code: string): boolean {
  return code === "Unschedulable" || code === "UnschedulableAndUnresolvable" || code === "Pending";
}

const BY_SEVERITY: readonly StatusCode[] = ["Skip", "Success", "Wait", "Pending", "Unschedulable", "UnschedulableAndUnresolvable", "Error"];

/** The code for a mark that represents several Statuses; null: there are none. */
export function mostSevere(codes: readonly string[]): StatusCode | null {
  return BY_SEVERITY.findLast((code) => codes.includes(code)) ?? null;
}
