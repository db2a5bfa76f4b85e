/** One of each kind that docs/breakpoints.md tells of; they are written in the server's language, so they are not translated. */
export const EXAMPLES = [
  "popped default/web-*",
  "pod * reached unschedulablePods",
  "status Unschedulable by NodeResourcesFit at Filter",
  "node * changed",
  't == "queueMoved" and cause == "NodeAdd"',
] as const;
