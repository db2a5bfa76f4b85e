/** Explains texts without a session. Apart from `explain.ts`, because only the start page needs it. */
import { call } from "./call";
import type { Phrase } from "../model/text/phrase";
import { onlyPodOf, withObjects } from "../model/text/pastedText";
import { textsBody, type MessageSubject, type PastedMessage } from "./explain";

/** What texts say about pods. Groups have the indexes of their messages and of their answer. */
export interface ExplainedTexts {
  /** What was sent. */
  asked: MessageSubject;
  messages: PastedMessage[];
  /** What to read first about each pod with a message. */
  answers: PodAnswer[];
  /** The pods about which the texts say the same. */
  groups: PodGroup[];
  /** Whether a text may have other messages. */
  more: boolean;
  /** The warnings that are not about scheduling. */
  others: Phrase | null;
  /** What prints the messages, if the text is a table with a pending pod. */
  command: string;
}

/** The pods about which texts say the same, or a message that names no pod. */
export interface PodGroup {
  pods: string[];
  answer: number | null;
  /** Whether the messages no longer apply. */
  isOver: boolean;
  latest: number;
  /** The newest message of each other writer. */
  beside: number[];
  earlier: number[];
  /** The newest messages of the other pods that differ from the first pod's in their numbers. */
  others: number[];
  /** Those of `latest` and `beside` that the answer explains. */
  quoted: number[];
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

/** Explain the scheduler's messages in texts, without a session: each on its own, or with the nodes and the only pod that are in texts without messages. Messages that name no pod are about the only manifest of a pod in another text. */
export async function explainTexts(texts: readonly string[], signal: AbortSignal): Promise<ExplainedTexts> {
  const asked = { texts: withObjects(texts), pod: texts.length > 1 ? onlyPodOf(texts) : "" };
  return { ...(await call<Omit<ExplainedTexts, "asked">>("POST", "explain/message/", { body: textsBody(asked), signal })), asked };
}

/** The text of a compressed file (Base64), or why it cannot be read. */
export function textOfFile(file: string): Promise<{ text: string; hint: string }> {
  return call("POST", "explain/message/", { body: { file } });
}
