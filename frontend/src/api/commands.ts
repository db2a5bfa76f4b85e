import type { OutcomeInfo } from "../wire/messages";
import { call } from "./call";

/** A command as REST answers it: done where `outcome` is there, else accepted and on its way. */
export interface CommandAnswer {
  seq: number;
  status: "waiting" | "done" | "quarantined";
  outcome: OutcomeInfo | null;
}

/** How long an answer is waited for: a session that runs takes commands between two stages. */
const WAIT_SECONDS = 10;

/** Send a command and wait for what comes of it. Throws an `ApiError`, with the path of what is wrong in the command. */
export function sendCommand(id: string, command: Record<string, unknown>): Promise<CommandAnswer> {
  return call("POST", `sessions/${id}/commands/`, { body: command, headers: { Prefer: `wait=${WAIT_SECONDS}` } });
}
