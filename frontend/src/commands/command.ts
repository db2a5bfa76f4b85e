import type { MessageKey } from "../i18n/translate";

/** A command of the page. Key bindings, the help and the command palette are made from this list. */
export interface Command {
  id: string;
  title: MessageKey;
  /** KeyboardEvent.key values; help shows the first. */
  keys: string[];
  group: "lesson" | "transport" | "ask" | "do" | "page";
  /** The command changes the session, its access, or creates something on the server: hidden from users who may only view. */
  changes?: "session" | "rights" | "server";
  /** The command leaves this session (for another one, or a file): hidden from users whom a room shows the session. */
  leaves?: true;
  run(): void;
}
