import type { PodState } from "../generated";

/** What decides when an assumed pod expires. */
export interface PodExpiry {
  /** Its binding is written, so its time runs if there is a limit. */
  bindingFinished: boolean;
  /** By the virtual clock; null: it does not expire. */
  deadlineSeconds: number | null;
}

/**
 * The expiry of a pod in the cache; null: the pod is not assumed, or no assumed pod expires in the release, so that the cache does not
 * know whether a binding is written.
 *
 * Upstream: v1.27.1 internal/cache/cache.go podState; v1.36 backend/cache/cache.go has neither member.
 */
export function podExpiryOf(state: PodState, release: string): PodExpiry | null {
  if (!state.assumed || !hasExpiry(release)) return null;
  return { bindingFinished: state.bindingFinished ?? false, deadlineSeconds: state.deadlineSeconds ?? null };
}

/** Whether the cache of a release has expiring pods. */
export function hasExpiry(release: string): boolean {
  return release === "v1.27.1";
}
