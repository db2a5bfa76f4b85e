/** Explains texts without a session. Apart from `explain.ts`, because only the start page needs it. */
import { call } from "./call";
import type { PastedMessage } from "./explain";

/** The messages of a text; `more`: it may have others (older servers do not send it). */
export interface PastedMessages {
  messages: PastedMessage[];
  more?: boolean;
}

/** Explain the scheduler's messages in a text, without a session. */
export function explainText(text: string, signal: AbortSignal): Promise<PastedMessages> {
  return call("POST", "explain/message/", { body: { text }, signal });
}

/** The text of a compressed file (Base64), or why it cannot be read. */
export function textOfFile(file: string): Promise<{ text: string; hint: string }> {
  return call("POST", "explain/message/", { body: { file } });
}
