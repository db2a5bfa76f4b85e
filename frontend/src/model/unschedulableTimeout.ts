/** A pod leaves unschedulablePods after this time without any event. Upstream: DefaultPodMaxInUnschedulablePodsDuration. */
export const FLUSH_AFTER_SECONDS = 300;
