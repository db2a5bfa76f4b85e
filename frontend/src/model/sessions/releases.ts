/** The releases of kube-scheduler that a session can simulate, oldest first. A test compares them with schedviz/trace/releases.py. */
export const RELEASES = ["v1.27.1", "v1.36"] as const;
export type Release = (typeof RELEASES)[number];
export const NEWEST_RELEASE = RELEASES[1];

/** The selected release; "": detected from the files, else the server's default. */
export type ChosenRelease = "" | Release;

/** The release that a session of `release` can be forked to. */
export function otherRelease(release: string): string {
  return RELEASES.find((other) => other !== release) ?? release;
}
