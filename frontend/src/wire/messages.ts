import type { AnyCommand, AnyEvent, View } from "../model/generated";
import type { Phrase } from "../model/phrase";

/** What a session is doing; every member that a server leaves out is unknown. */
export interface SessionInfo {
  id?: string;
  name?: string;
  status?: "importing" | "ready" | "running" | "paused" | "failed";
  progress?: Progress | null;
  clockSeconds?: number;
  event?: number;
  cycle?: number;
  message?: string;
  /** The breakpoint that it stands at; null: at none. */
  hit?: { breakpoint: number; event: number; when: string } | null;
}

export interface Progress {
  phase: string;
  done: number;
  total: number;
  unit: string;
}

/** What came in, what was left out and why. */
export interface ImportReport {
  files?: { name: string; format: string; unpackedBytes: number; objects: number }[];
  /** How many objects of each kind were kept. */
  kinds?: Record<string, number>;
  dropped?: { kind: string; reason: string; count: number; examples?: string[] }[];
  warnings?: string[];
  /** The same, to be said in another language. */
  warningPhrases?: Phrase[];
  /** What the doctor found in the objects and dumps: one verdict for each comparison. */
  doctor?: { verdict: string; verdictPhrase: Phrase | null; differences: number; notes: number }[];
  /** Of a .schedviz file: who wrote it, and that doing it again gave the same. */
  file?: { name: string; engineVersion: string; commands: number; events: number; cycles: number; verified: boolean };
  /** Of a .schedviz file that this engine does otherwise: the command, the first event, as it was and as it is. */
  differs?: { command?: number | null; event: number; was: unknown; is: unknown; engineVersion?: string };
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
