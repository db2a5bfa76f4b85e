import type { AnyCommand, AnyEvent, View } from "../model/generated";

/** The state of a session; a member that a server omits is unknown. */
export interface SessionInfo {
  id?: string;
  name?: string;
  status?: "importing" | "ready" | "running" | "paused" | "failed";
  progress?: Progress | null;
  clockSeconds?: number;
  event?: number;
  cycle?: number;
  message?: string;
  /** The breakpoint at which it is stopped; null: none. */
  hit?: { breakpoint: number; event: number; when: string } | null;
}

export interface Progress {
  phase: string;
  done: number;
  total: number;
  unit: string;
}

export interface ViewMessage {
  type: "view";
  chunk: number;
  event: number;
  view: View;
  session?: SessionInfo;
}

export interface FrameMessage {
  type: "frame";
  chunk: number;
  firstChunk: number;
  event: number;
  events: AnyEvent[];
  session?: SessionInfo;
}

export interface OutcomeInfo {
  result?: string;
  error?: string;
  cycles?: number;
  event?: number;
  clockSeconds?: number;
  stopped?: string;
}

export type ServerMessage =
  | ViewMessage
  | FrameMessage
  | { type: "ack"; key: string; seq: number }
  | { type: "outcome"; seq: number; outcome: OutcomeInfo }
  | { type: "error"; key?: string; code: string; message: string; detail?: unknown }
  | { type: "gap"; expected: number; found: number }
  | { type: "status"; session: SessionInfo }
  | { type: "heartbeat"; chunk: number; event: number }
  | { type: "pong" };

export type ClientMessage = { type: "command"; key: string; command: AnyCommand } | { type: "resume"; from: number } | { type: "ping" };
