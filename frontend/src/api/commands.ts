import type { AppliedCommand } from "../model/compare/clusterChanges";
import type { AnyCommand } from "../model/generated";
import type { OutcomeInfo } from "../wire/messages";
import { ApiError, call } from "./call";

/** A command as REST returns it: applied if `outcome` is set, otherwise accepted. */
export interface CommandResponse {
  seq: number;
  status: "waiting" | "done" | "quarantined";
  outcome: OutcomeInfo | null;
}

/** How long to wait for an outcome: a running session takes commands between two stages. */
const WAIT_SECONDS = 10;
const POLL_MILLIS = 400;

/** Send a command, which is then accepted with this number. The same key is accepted once. Throws an `ApiError`. */
export function postCommand(id: string, key: string, command: AnyCommand): Promise<{ seq: number }> {
  return call("POST", `sessions/${id}/commands/`, { body: { key, ...command } });
}

/** The last commands of a session, in order. */
export async function lastCommands(id: string, count: number): Promise<(AppliedCommand & { key: string })[]> {
  const { results } = await call<{ results: (AppliedCommand & { key: string })[] }>("GET", `sessions/${id}/commands/?tail=${String(count)}`);
  return results;
}

/** Send a command and wait for its outcome. Throws an `ApiError` with the path of the invalid member. */
export function sendCommand(id: string, command: AnyCommand & { key?: string }): Promise<CommandResponse> {
  return call("POST", `sessions/${id}/commands/`, { body: command, headers: { Prefer: `wait=${WAIT_SECONDS}` } });
}

/** Send a command and wait until it is applied, without a time limit. Throws an `ApiError`, or an AbortError if the signal aborts. */
export async function runCommand(id: string, command: AnyCommand & { key?: string }, signal: AbortSignal): Promise<OutcomeInfo> {
  let response = await sendCommand(id, command);
  while (response.status === "waiting") {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS));
    response = await call<CommandResponse>("GET", `sessions/${id}/commands/${response.seq}/`, { signal });
  }
  const error = response.status === "quarantined" ? "quarantined" : response.outcome?.error;
  if (error) throw new ApiError(409, error);
  return response.outcome ?? {};
}
