/** A pod as far as its requests go, as the API server stores it. */
export interface RequestingPod {
  spec?: { containers?: readonly Requesting[]; initContainers?: readonly Requesting[] };
}
interface Requesting {
  resources?: { requests?: Readonly<Record<string, unknown>>; limits?: Readonly<Record<string, unknown>> };
}

/** What is drawn of every node, and what is stored on its disk. */
const NATIVE = new Set(["cpu", "memory", "ephemeral-storage", "pods"]);

/** The first resource that a pod requests beside the native ones, such as `nvidia.com/gpu`; "": none. */
export function extendedResourceOf({ spec }: RequestingPod): string {
  const requesting = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const names = requesting.flatMap(({ resources }) => Object.keys({ ...resources?.limits, ...resources?.requests }));
  return names.find((name) => !NATIVE.has(name)) ?? "";
}
