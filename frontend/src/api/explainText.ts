/** Explains texts without a session. Apart from `explain.ts`, because only the start page needs it. */
import { call } from "./call";
import { joinedAnswers } from "../model/joinedAnswers";
import type { Phrase } from "../model/phrase";
import { onlyPodOf, withObjects } from "../model/pastedText";
import type { PastedMessage } from "./explain";

/** The messages of a text; `more`: it may have others (older servers do not send it). */
export interface PastedMessages {
  messages: PastedMessage[];
  more?: boolean;
  /** What to read first about each pod with a message (older servers do not send it, nor what follows). */
  answers?: PodAnswer[];
  /** The warnings that are not about scheduling. */
  others?: Phrase | null;
  /** What prints the messages, if the text is a table with a pending pod. */
  command?: string;
}

/** What to read first about a pod of a text: whether it has a node, or one is on its way. */
export interface PodAnswer {
  pod: string;
  standing: "pending" | "coming" | "scheduled" | "deleted" | "notCreated";
  sentence: string;
  sentencePhrase: Phrase | null;
  advice: string;
  advicePhrase: Phrase | null;
  note: string;
  notePhrase: Phrase | null;
}

/** Explain the scheduler's messages in a text, without a session. */
export function explainText(text: string, signal: AbortSignal): Promise<PastedMessages> {
  return call("POST", "explain/message/", { body: { text }, signal });
}

/** The same for several texts, each on its own, or with the nodes and the only pod that are in texts without messages. Messages that name no pod are about the only manifest of a pod in another text, if none has a name. */
export async function explainTexts(texts: readonly string[], signal: AbortSignal): Promise<PastedMessages> {
  const answers = await Promise.all(withObjects(texts).map(async (text) => {
    const answer = await explainText(text, signal);
    return { ...answer, messages: answer.messages.map((message) => ({ ...message, source: text })) };
  }));
  const joined = joinedAnswers(answers);
  const pod = texts.length > 1 && joined.messages.every((message) => !message.pod) ? onlyPodOf(texts) : "";
  if (!pod) return joined;
  return { ...joined, messages: joined.messages.map((message) => ({ ...message, pod })), answers: (joined.answers ?? []).map((answer) => ({ ...answer, pod })) };
}

/** The text of a compressed file (Base64), or why it cannot be read. */
export function textOfFile(file: string): Promise<{ text: string; hint: string }> {
  return call("POST", "explain/message/", { body: { file } });
}
