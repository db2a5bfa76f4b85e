/** A part of a FitError's message: plain text, or a clause with the nodes that it counts. */
export interface Clause {
  text: string;
  reason: string | null;
}

/** The number of nodes that were rejected for these reasons. */
export interface Counted {
  reasons: readonly string[];
  nodes: number;
}

/**
 * The clauses of a message. Upstream counts each reason over all nodes and sorts the texts. Reasons may contain commas, so the reasons of
 * the rejections are searched for literally. The rest (the message of PostFilter) stays plain text.
 */
export function clausesOf(message: string, rejections: readonly Counted[]): Clause[] {
  const counts = new Map<string, number>();
  for (const rejection of rejections) for (const reason of rejection.reasons) counts.set(reason, (counts.get(reason) ?? 0) + rejection.nodes);
  const reasons = [...counts]
    .map(([reason, nodes]) => ({ reason, text: `${nodes} ${reason}` }))
    .map((clause) => ({ ...clause, at: placeOf(message, clause.text) }))
    .filter((clause) => clause.at >= 0)
    .sort((a, b) => a.at - b.at || b.text.length - a.text.length);
  const clauses: Clause[] = [];
  let end = 0;
  for (const { reason, text, at } of reasons) {
    if (at < end) continue;
    if (at > end) clauses.push({ text: message.slice(end, at), reason: null });
    clauses.push({ text, reason });
    end = at + text.length;
  }
  if (end < message.length) clauses.push({ text: message.slice(end), reason: null });
  return clauses;
}

/** The index of a clause that is not part of another clause's number. */
function placeOf(message: string, text: string): number {
  for (let at = message.indexOf(text); at >= 0; at = message.indexOf(text, at + 1)) if (at === 0 || message[at - 1] === " ") return at;
  return -1;
}
