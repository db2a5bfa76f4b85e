import type { MessageKey } from "../i18n/translate";

/** What a person can do on the page. Keys, the help and the palette read this list. */
export interface Command {
  id: string;
  title: MessageKey;
  /** As KeyboardEvent.key; the first is the one that help shows. */
  keys: string[];
  group: "transport" | "ask" | "do" | "page";
  /** It changes this session, or says who may see it, which is its owner's to do, or makes another thing on the server: not for those who only look. */
  changes?: "session" | "rights" | "server";
  /** It leads out of this session, to another one or a file: not for those whom a room shows it. */
  leaves?: true;
  run(): void;
}
