import type { AnyCommand } from "../generated";

/** A command as a session has stored it, with the event after it. */
export interface AppliedCommand {
  command: AnyCommand;
  outcome: { event: number; error: string } | null;
}

/** Changes of the cluster or the configuration that were made one directly after the other, between two moments of a session. */
export interface ClusterChange {
  /** The first of them. */
  command: AnyCommand;
  /** How many others there are. */
  others: number;
  /** The last event before it. */
  before: number;
  /** The last event before the next change; null: none has followed. */
  after: number | null;
}

const CHANGES: ReadonlySet<string> = new Set(["create", "update", "delete", "cordon", "drain", "evict", "configure"]);

/** The changes among commands in order, newest first. What happened before the first of these commands is not known: it is no change. */
export function clusterChanges(commands: readonly AppliedCommand[]): ClusterChange[] {
  const changes: ClusterChange[] = [];
  let event: number | null = null;
  let open: ClusterChange | null = null;
  for (const { command, outcome } of commands) {
    if (!outcome) break;
    if (!CHANGES.has(command.op)) open = null;
    else if (!outcome.error && open) open.others += 1;
    else if (!outcome.error && event !== null) {
      const last = changes.at(-1);
      if (last) last.after = event;
      changes.push((open = { command, others: 0, before: event, after: null }));
    }
    event = outcome.event;
  }
  return changes.reverse();
}

/** The changes with which a run that was the same until `after` went another way, as one; null: none of the commands until `until` is a change. */
export function changesBetween(commands: readonly AppliedCommand[], after: number, until: number): ClusterChange | null {
  const changes = commands.filter(({ command, outcome }) => outcome && !outcome.error && outcome.event > after && outcome.event <= until && CHANGES.has(command.op));
  const first = changes[0];
  return first ? { command: first.command, others: changes.length - 1, before: after, after: until } : null;
}
