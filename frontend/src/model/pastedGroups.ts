/** A scheduler message of a pasted text, as far as it is grouped. */
export interface Pasted {
  /** `namespace/name`; "": the text does not name it. */
  pod: string;
  /** "5m ago"; "": unknown. */
  at: string;
  text: string;
  /** The component that wrote it: an autoscaler or the API server; "": a scheduler did. */
  component: string;
  /** What it says, without its numbers; missing: its text. */
  reasons?: string;
}

/** The component that wrote a message: an autoscaler or the API server; "": a scheduler did. */
export function componentOf({ clauses: [first] }: { clauses: readonly { plugin: string }[] }): string {
  return first && ["cluster-autoscaler", "karpenter", "kube-apiserver"].includes(first.plugin) ? first.plugin : "";
}

/** The reasons of a message without their numbers of nodes and, of an autoscaler, without names with digits, which differ from pod to pod. */
export function reasonsOf({ clauses }: { clauses: readonly { plugin: string; reason: string }[] }, component: string): string {
  const reasons = clauses.map(({ reason }) => (component ? reason.replaceAll(/[\w.-]*\d[\w.-]*/g, "#") : reason));
  return [...new Set(reasons)].sort().join("\n");
}

/** The end of the name of a ReplicaSet's pod. Upstream: apimachinery pkg/util/rand SafeEncodeString */
const OF_REPLICA_SET = /-[bcdf-hj-np-tv-xz2456789]{5}$/;

/** The pods whose newest messages are the same, or those of one ReplicaSet whose newest messages have the same reasons: the scheduler's, those of other components beside it, and the older ones of these pods. */
export interface PastedGroup<Message extends Pasted> {
  pods: string[];
  latest: Message;
  /** The newest of each other component, if a scheduler's leads. */
  beside: Message[];
  earlier: Message[];
  /** What the scheduler wrote about the other pods of a ReplicaSet, if it differs. */
  others: Message[];
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, y: 31_536_000 };

/** Seconds of an age of kubectl, such as `2m57s ago`; null: it is none. */
export function ageSeconds(at: string): number | null {
  const parts = [...at.matchAll(/(\d+)([smhdy])/g)];
  return parts.length ? parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0) : null;
}

/** What sorts messages by their times, the newest first: of RFC 3339 times only the order is known. */
function ageOf(at: string): number {
  const time = /^\d{4}-\d\d-\d\dT/.test(at) ? Date.parse(at) : NaN;
  return Number.isNaN(time) ? ageSeconds(at) ?? 0 : 1e12 - time / 1_000;
}

/** The newest messages, each on lines of its own. */
export function textsOf({ latest, beside }: { latest: Pasted; beside: readonly Pasted[] }): string {
  return [latest, ...beside].map(({ text }) => text).join("\n\n");
}

/**
 * The messages by pod, the newest of each first. Without ages the last is the newest, as in the events of `kubectl describe`. Messages that have
 * an age and name no pod are of one events table, and thus of one pod. So are one message of a scheduler and one of an autoscaler without either.
 * `tellsApart`: what else distinguishes pods, such as that one of them has a node.
 */
export function pastedGroups<Message extends Pasted>(messages: readonly Message[], tellsApart: (pod: string) => string = () => ""): PastedGroup<Message>[] {
  const byPod = new Map<string, Message[]>();
  const components = messages.filter(({ pod, at }) => !pod && !at).map(({ component }) => component);
  const areOfOne = components.some(Boolean) && new Set(components).size === components.length;
  messages.forEach((message, i) => {
    const key = message.pod || (message.at || areOfOne ? "?" : `?${String(i)}`);
    byPod.set(key, [message, ...(byPod.get(key) ?? [])]);
  });
  const groups: PastedGroup<Message>[] = [];
  for (const ofPod of byPod.values()) {
    const newestFirst = ofPod.toSorted((a, b) => ageOf(a.at) - ageOf(b.at));
    const newest = newestFirst.filter((message, i) => newestFirst.findIndex(({ component }) => component === message.component) === i);
    const [latest, ...beside] = newest.toSorted((a, b) => Number(a.component !== "") - Number(b.component !== "")) as [Message, ...Message[]];
    const earlier = newestFirst.filter((message) => !newest.includes(message));
    const texts = textsOf({ latest, beside });
    const owner = ownerOf(latest.pod);
    const reasons = reasonsWith(latest, beside);
    const same = latest.pod
      ? groups.find((group) => group.pods.length && (textsOf(group) === texts || (owner && ownerOf(group.latest.pod) === owner && reasonsWith(group.latest, group.beside) === reasons && tellsApart(group.latest.pod) === tellsApart(latest.pod))))
      : undefined;
    if (!same) groups.push({ pods: latest.pod ? [latest.pod] : [], latest, beside, earlier, others: [] });
    else {
      same.pods.push(latest.pod);
      if (latest.text !== same.latest.text) same.others.push(latest);
      same.earlier.push(...earlier.filter(({ text }) => same.earlier.every((one) => one.text !== text)));
    }
  }
  return groups;
}

/** `namespace/name` of the ReplicaSet whose pod this is by its name; "": it is none. */
function ownerOf(pod: string): string {
  return OF_REPLICA_SET.test(pod) ? pod.replace(OF_REPLICA_SET, "") : "";
}

function reasonsWith(latest: Pasted, beside: readonly Pasted[]): string {
  return [latest, ...beside].map(({ component, reasons, text }) => `${component}: ${reasons ?? text}`).join("\n\n");
}
