/** A scheduler's message to show. kube-scheduler 1.27 ends with two full stops: preemption's part has its own. */
export function oneFullStop(message: string): string {
  return message.endsWith("..") && !message.endsWith("...") ? message.slice(0, -1) : message;
}
