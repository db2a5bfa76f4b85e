import type { Phrase } from "../model/text/phrase";

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
