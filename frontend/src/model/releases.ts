/** The releases of kube-scheduler that a session can simulate, the oldest first. As schedviz/trace/releases.py has them, which a test holds. */
export const RELEASES = ["v1.27.1", "v1.36"] as const;

/** A release that was chosen; "": the files choose, or the server's default holds. */
export type ChosenRelease = "" | (typeof RELEASES)[number];

/** The release that a session of `release` can be forked to. */
export function otherRelease(release: string): string {
  return RELEASES.find((other) => other !== release) ?? release;
}
