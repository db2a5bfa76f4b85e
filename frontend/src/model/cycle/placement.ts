import { mergedRejections } from "./cycleStages";
import type { CycleView, RejectionView } from "../generated";

/** How a pod came to its node: by a scheduling cycle, or before or beside this scheduler. */
export type Placement =
  | { by: "cycle"; cycle: CycleView }
  /** It was on the node already: in the imported dump, or when a session without one began. */
  | { by: "dump" | "start" }
  /** The scheduler of the followed cluster placed it. */
  | { by: "cluster" }
  /** It was created with spec.nodeName. */
  | { by: "nodeName" }
  /** The events before `firstEvent` were deleted, and with them perhaps its cycle. */
  | { by: "deletedHistory" };

/** What is known of a pod that no cycle of this session placed. */
export interface Origin {
  /** The session was made from files of a cluster. */
  isClusterImport: boolean;
  /** The session follows a cluster, or is forked from one that does. */
  isFollowing: boolean;
  /** The pod existed when the session began. */
  isFromStart: boolean;
  /** The first stored event; more than 0: earlier ones were deleted. */
  firstEvent: number;
}

export function placementWithoutCycle({ isClusterImport, isFollowing, isFromStart, firstEvent }: Origin): Placement {
  if (isFollowing) return { by: "cluster" };
  if (firstEvent > 0) return { by: "deletedHistory" };
  if (!isFromStart) return { by: "nodeName" };
  return { by: isClusterImport ? "dump" : "start" };
}

/** The nodes that the Filter plugins of a cycle rejected, by plugin and reason. */
export function rejectionsOf(cycle: CycleView): RejectionView[] {
  return mergedRejections((cycle.stages ?? []).filter(({ stage }) => stage === "Filter").flatMap(({ rejections }) => rejections ?? []));
}
