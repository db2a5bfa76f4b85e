/** An example of each kind in docs/breakpoints.md. Not translated, because they are in the server's condition language. */
export const EXAMPLES = [
  "popped default/web-*",
  "pod * reached unschedulablePods",
  "status Unschedulable by NodeResourcesFit at Filter",
  "node * changed",
  't == "queueMoved" and cause == "NodeAdd"',
] as const;
