/** Questions about one moment of a session: why a pod is pending, what would place it, how many more would fit. They change nothing. */
import type { AnyCommand } from "../model/generated";
import type { Phrase } from "../model/text/phrase";
import { call, callBlob, pathOf } from "./call";
import type { Finding } from "./importReport";

/** Whether a node could take the pod: now; if pods on it left; if something else changed; not even if it were empty. */
export type Outlook = "now" | "pods leave" | "elsewhere" | "never";
export const OUTLOOKS: readonly Outlook[] = ["now", "pods leave", "elsewhere", "never"];

export type Standing = "pending" | "gated" | "nominated" | "waiting" | "scheduled" | "deleting" | "ignored" | "finished";

/** One reason of a FitError, with the nodes that it counts. */
export interface ReasonClause {
  count: number;
  reason: string;
  plugin: string;
  code: string;
  nodes: string[];
  meaning: string;
  /** The same in one plain sentence, with the numbers of this case; "": it is of no known plugin. Older servers do not send it. */
  headline?: string;
  headlinePhrase?: Phrase | null;
  causes: string[];
  /** What to do about it; older servers do not send it. */
  advice?: string;
  /** The advice with the values of this case; missing: it has none. */
  advicePhrase?: Phrase | null;
  meaningPhrase: Phrase | null;
  /** The numbers behind the reason; older servers do not send them. */
  details?: Detail[];
  /** It only says why other nodes than those of the main reason are no use; older servers do not send it. */
  isAside?: boolean;
}

/** A resource on one node, in milli-cpus, bytes or a count. */
export interface NodeAmount {
  node: string;
  allocatable: number;
  used: number;
}

/** The numbers behind a clause, by kind of reason. */
export type Detail = { sentence: string; sentencePhrase: Phrase } & (
  | { kind: "resource"; resource: string; requested: number; offeredBy: number; largest: number; nodes: NodeAmount[] }
  | { kind: "taint"; taint: string; nodes: number; toleratedBy: number; pods: string[] }
  | { kind: "label"; key: string; requirement: string; matching: number; values: { value: string; nodes: number }[]; without: number; claim: string; volume: string }
  | { kind: "spread"; topologyKey: string; maxSkew: number; selector: string; fewest: number; most: number; domains: { domain: string; pods: number }[]; of: number; without: number }
  | { kind: "podAffinity"; term: "affinity" | "antiAffinity" | "existingAntiAffinity"; topologyKey: string; selector: string; namespaces: string[]; matching: number; pods: PodOnNode[] }
  | { kind: "port"; port: string; nodes: number; pods: PodOnNode[] }
  | { kind: "device"; claim: string; request: string; deviceClass: string; wanted: number; devices: number; free: number; excluded: Record<string, number> }
);

export interface PodOnNode {
  pod: string;
  node: string;
}

export interface NodeVerdict {
  node: string;
  outlook: Outlook;
  plugin: string;
  code: string;
  reasons: string[];
  objections: { plugin: string; code: string; reasons: string[] }[];
}

/** Pods that would have to leave a node; `byPreemption`: whether preemption could evict them. */
export interface LeavingPods {
  node: string;
  pods: string[];
  highestPriority: number;
  byPreemption: boolean;
}

export interface QueuePlace {
  queue: "activeQ" | "backoffQ" | "unschedulablePods";
  attempts: number;
  sinceSeconds: number;
  ahead: number | null;
  backoffEndsSeconds: number | null;
  flushedAfterSeconds: number | null;
  gatedBy: string;
  /** The PreEnqueue plugin that gates the pod, and what it says; "": none does. Older answers lack both. */
  gatingPlugin?: string;
  gatingReason?: string;
  plugins: string[];
  wakes: { plugin: string; event: string }[];
}

export type { Finding };

export interface Explanation {
  pod: string;
  standing: Standing;
  sentence: string;
  sentencePhrase: Phrase | null;
  node: string;
  message: string;
  said: string;
  /** Since when the pod has been unschedulable, according to that condition (RFC 3339); older servers do not send it. */
  saidSince?: string;
  /** Possible causes of the difference between `said`, another scheduler's message, and `message`. */
  disagreement: string;
  disagreementPhrase: Phrase | null;
  /** A kind of object that the pod needs and the files lack, so that nothing can be tried; older servers do not send it. */
  lacks?: string;
  outlook: Outlook;
  nodes: number;
  fits: string[];
  clauses: ReasonClause[];
  /** The clause of the nodes that are nearest to taking the pod. */
  main: ReasonClause | null;
  outlooks: Partial<Record<Outlook, number>>;
  matrix: NodeVerdict[];
  room: LeavingPods[];
  queue: QueuePlace | null;
  /** The pod is nominated to a node where it fits, but will never be bound: the cause, and what to do. */
  forEver: boolean;
  cause: string;
  advice: string;
  causePhrase: Phrase | null;
  advicePhrase: Phrase | null;
  /** HTTP extenders that a cycle would call, and that are not called here. */
  extendersNotAsked: string[];
  alike: string[];
  /** What the pod's group means for it; "" if it can be scheduled alone. */
  group: string;
  /** About the pod, and about the nodes that could take it; older servers do not send them. */
  findings?: Finding[];
}

export interface ExplainedChange {
  kind: string;
  what: string;
  phrase: Phrase;
  kubectl: string;
  /** Lines to add to the spec of the pod's template; older servers do not send it. */
  yaml?: string;
  /** What else it does; "": it concerns nothing but the pod. Older servers do not send it. */
  consequence?: string;
}

/** One or two changes that were tried: the pod then fits on `fits` nodes. `commands` apply them to a session. */
export interface Suggestion {
  changes: ExplainedChange[];
  cost: number;
  fits: number;
  nodes: string[];
  /** The result of the trial: the pod fits; its next cycle preempts for it; or it is no longer nominated for ever. */
  effect: "fits" | "makesRoom" | "endsNomination" | "groupRuns";
  commands: AnyCommand[];
  /** How many of the pod and its equals it places; older servers do not send it. */
  together?: string;
  togetherPhrase?: Phrase | null;
}

export interface SmallestChange {
  suggestions: Suggestion[];
  tried: Record<string, number>;
  dryRuns: number;
  seconds: number;
  sentence: string;
}

export interface WhatIf {
  copies: number;
  placed: number;
  remaining: number;
  /** The number of copies by node, in the order in which nodes were first chosen. */
  nodes: Record<string, number>;
  message: string;
  outcome: string;
}

/** The clauses of a pasted message. `unaccounted`: nodes that no clause counts; negative: nodes with several reasons. */
export interface ReadMessage {
  /** 0: the message counts no nodes. */
  nodes: number;
  clauses: ReasonClause[];
  preFilter: string;
  /** The reasons in one sentence, and what to try first. Older answers lack both. */
  conclusion?: string;
  conclusionPhrase?: Phrase | null;
  /** What to try first; "": the reasons leave several possibilities. Older servers do not send it. */
  first?: string;
  firstPhrase?: Phrase | null;
  /** What its words tell about the release of its scheduler. Older answers lack both. */
  wording?: string;
  wordingPhrase?: Phrase | null;
  preemption: ReasonClause[];
  unaccounted: number;
  /** Why clauses count fewer nodes than the message; "": they do not. */
  finding?: string;
  findingPhrase?: Phrase | null;
}

/** Pods with equal scheduling requirements, and why they are pending. */
export interface PendingGroup {
  pods: string[];
  standing: Standing;
  sentence: string;
  message: string;
  outlook: Outlook;
  clauses: ReasonClause[];
  sentencePhrase: Phrase | null;
  /** Why the pods are pending, in one plain sentence; "" if no reason of the scheduler says it. Older servers do not send it. */
  headline?: string;
  headlinePhrase?: Phrase | null;
  /** The numbers behind the main clause; "" if there are none. */
  detail: string;
  detailPhrase: Phrase | null;
  /** What an autoscaler said about the first pod; older servers do not send it. */
  event?: string;
  eventPhrase?: Phrase | null;
  /** The smallest change with which a dry run places the first pod; older servers do not send it. */
  changes?: ExplainedChange[];
  /** As `effect` of the reason, if the changes of its groups differ. */
  effect?: string;
  effectPhrase?: Phrase | null;
}

/** Groups that are pending for the same reason, and the number of their pods. */
export interface WaitingReason {
  reason: string;
  reasonPhrase: Phrase;
  /** The same in one plain sentence; `isQuoted`: `reason` is the scheduler's own text. Older servers do not send them. */
  headline?: string;
  headlinePhrase?: Phrase;
  isQuoted?: boolean;
  count: number;
  groups: PendingGroup[];
  /** They only wait for their next attempt: nodes can take them now. */
  placeable: boolean;
  /** What to do about it; older servers do not send it, and not the phrase. */
  advice?: string;
  advicePhrase?: Phrase | null;
  /** The verified change that all groups have in common; older servers do not send it. */
  changes?: ExplainedChange[];
  /** How many of the pods it places together, and what would place the others; older servers do not send it. */
  effect?: string;
  effectPhrase?: Phrase | null;
}

/** All pending pods by reason. `unexplained`: pods beyond the server's limit of groups. */
export interface Overview {
  sentence: string;
  sentencePhrase: Phrase;
  count: number;
  reasons: WaitingReason[];
  unexplained: number;
  /** Why no pod was tried, if there are no nodes, with the command that prints what is missing; older servers do not send them. */
  note?: string;
  notePhrase?: Phrase | null;
  command?: string;
  /** Reasons that the messages of all pods have in common; only where no pod was tried. */
  common?: ReasonClause[];
}

export function explainPod(id: string, pod: string, at: number, signal: AbortSignal): Promise<Explanation> {
  return call("GET", `sessions/${id}/explain/${pathOf(pod)}/?at=${at}`, { signal });
}

/** A card of a session's pod `namespace/name`; "": of all pending pods. */
interface SessionSubject {
  session: string;
  pod: string;
  at: number;
}

/** A card of a scheduler's message, or of the texts that have it, without a session; `pod` is "" if it is not known. */
export interface MessageSubject {
  texts: readonly string[];
  pod: string;
}

/** What a card is about. */
export type CardSubject = SessionSubject | MessageSubject;
export type CardFormat = "markdown" | "html" | "png";

/** A card: an explanation or the overview as Markdown, a static page, or an image with the colors of a theme. */
export async function fetchCard(subject: CardSubject, format: CardFormat, theme: "light" | "dark" = "light", signal?: AbortSignal): Promise<Blob> {
  const query = new URLSearchParams({ format, ...(format === "png" ? { theme } : {}) });
  if ("texts" in subject) return callBlob("POST", `explain/message/?${query.toString()}`, { body: textsBody(subject), signal });
  const { session, pod, at } = subject;
  query.set("at", String(at));
  return callBlob("GET", `sessions/${session}/${pod ? `explain/${pathOf(pod)}` : "overview"}/?${query.toString()}`, { signal });
}

/** What `explain/message/` is asked: older servers know one text. */
export function textsBody({ texts, pod }: MessageSubject): object {
  return { ...(texts.length === 1 ? { text: texts[0] } : { texts }), pod };
}

/** The card as Markdown, for an issue or a chat. */
export async function cardText(subject: CardSubject): Promise<string> {
  return (await fetchCard(subject, "markdown")).text();
}

export function smallestChange(id: string, pod: string, at: number, signal: AbortSignal): Promise<SmallestChange> {
  return call("GET", `sessions/${id}/explain/${pathOf(pod)}/change/?at=${at}`, { signal });
}

/** `changes`: with the changes that would place pods, which takes about a second longer. */
export function pendingOverview(id: string, at: number, signal: AbortSignal, changes = false): Promise<Overview> {
  return call("GET", `sessions/${id}/overview/?at=${at}${changes ? "&changes=1" : ""}`, { signal });
}

export function explainMessage(id: string, body: { text: string; pod?: string }, at: number, signal: AbortSignal): Promise<ReadMessage> {
  return call("POST", `sessions/${id}/explain/message/?at=${at}`, { body, signal });
}

/** A scheduler message in a pasted text. `pod` and `at` are "" if the text does not say. */
export interface PastedMessage {
  pod: string;
  at: string;
  text: string;
  message: ReadMessage;
  /** An autoscaler, the kubelet, the API server or another component; "": the scheduler. */
  writer: string;
}

export function whatIf(id: string, pod: object, copies: number, at: number, signal: AbortSignal): Promise<WhatIf> {
  return call("POST", `sessions/${id}/what-if/?at=${at}`, { body: { pod, copies }, signal });
}
