import type { AnyCommand, AnyEvent, View } from "../model/generated";
import type { Phrase } from "../model/phrase";

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

/** Something that the doctor found in the imported files. */
export interface Finding {
  differs: boolean;
  kind: string;
  about: string;
  sentence: string;
  sentencePhrase: Phrase | null;
  cause: string;
  causePhrase: Phrase | null;
  advice: string;
  advicePhrase: Phrase | null;
}

/** What was imported, what was skipped, and why. */
export interface ImportReport {
  files?: { name: string; format: string; unpackedBytes: number; objects: number }[];
  /** The number of imported objects by kind. */
  kinds?: Record<string, number>;
  dropped?: { kind: string; reason: string; count: number; examples?: string[] }[];
  /** Files that could not be read, and parts of the others. */
  refused?: { name: string; message: string }[];
  skipped?: { name: string; message: string }[];
  warnings?: string[];
  /** The same, for translation. */
  warningPhrases?: Phrase[];
  /** The doctor's findings in the objects and dumps: one verdict for each comparison. */
  doctor?: { verdict: string; verdictPhrase: Phrase | null; differences: number; notes: number; findings?: Finding[] }[];
  /** For a .schedviz file: who wrote it, and that its replay gave the same result. */
  file?: { name: string; engineVersion: string; commands: number; events: number; cycles: number; verified: boolean };
  /** For a .schedviz file that this engine replays differently: the command, the first differing event, the old and the new value. */
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
