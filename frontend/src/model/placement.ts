import { mergedRejections } from "./cycleStages";
import type { CycleView, RejectionView } from "./generated";

/** How a pod came to its node: by a scheduling cycle, or before or beside this scheduler. */
export type Placement =
  | { by: "cycle"; cycle: CycleView }
  | { by: "dump" | "start" | "cluster" | "creation" | "forgotten" };

/** What is known of a pod that no cycle of this session placed. */
export interface Origin {
  /** The session was made from files of a cluster. */
  isImport: boolean;
  /** The session follows a cluster, or is forked from one that does. */
  isFollowing: boolean;
  /** The pod existed when the session began. */
  isFromStart: boolean;
  /** The first stored event; more than 0: earlier ones were deleted. */
  firstEvent: number;
}

export function placementWithoutCycle({ isImport, isFollowing, isFromStart, firstEvent }: Origin): Placement {
  if (isFollowing) return { by: "cluster" };
  if (firstEvent > 0) return { by: "forgotten" };
  if (!isFromStart) return { by: "creation" };
  return { by: isImport ? "dump" : "start" };
}

/** The nodes that the Filter plugins of a cycle rejected, by plugin and reason. */
export function rejectionsOf(cycle: CycleView): RejectionView[] {
  return mergedRejections((cycle.stages ?? []).filter(({ stage }) => stage === "Filter").flatMap(({ rejections }) => rejections ?? []));
}
