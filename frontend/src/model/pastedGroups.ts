/** A scheduler message of a pasted text, as far as it is grouped. */
export interface Pasted {
  /** `namespace/name`; "": the text does not name it. */
  pod: string;
  /** "5m ago"; "": unknown. */
  at: string;
  text: string;
  /** The component that wrote it: an autoscaler or the API server; "": a scheduler did. */
  component: string;
}

/** The component that wrote a message: an autoscaler or the API server; "": a scheduler did. */
export function componentOf({ clauses: [first] }: { clauses: readonly { plugin: string }[] }): string {
  return first && ["cluster-autoscaler", "karpenter", "kube-apiserver"].includes(first.plugin) ? first.plugin : "";
}

/** The pods whose newest messages are the same: the scheduler's, those of other components beside it, and the older ones of these pods. */
export interface PastedGroup<Message extends Pasted> {
  pods: string[];
  latest: Message;
  /** The newest of each other component, if a scheduler's leads. */
  beside: Message[];
  earlier: Message[];
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, y: 31_536_000 };

/** Seconds of an age of kubectl, such as `2m57s ago`; null: it is none. */
export function ageSeconds(at: string): number | null {
  const parts = [...at.matchAll(/(\d+)([smhdy])/g)];
  return parts.length ? parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0) : null;
}

/** The newest messages, each on lines of its own. */
export function textsOf({ latest, beside }: { latest: Pasted; beside: readonly Pasted[] }): string {
  return [latest, ...beside].map(({ text }) => text).join("\n\n");
}

/**
 * The messages by pod, the newest of each first. Without ages the last is the newest, as in the events of `kubectl describe`. Messages that have
 * an age and name no pod are of one events table, and thus of one pod. So are one message of a scheduler and one of an autoscaler without either.
 */
export function pastedGroups<Message extends Pasted>(messages: readonly Message[]): PastedGroup<Message>[] {
  const byPod = new Map<string, Message[]>();
  const components = messages.filter(({ pod, at }) => !pod && !at).map(({ component }) => component);
  const areOfOne = components.some(Boolean) && new Set(components).size === components.length;
  messages.forEach((message, i) => {
    const key = message.pod || (message.at || areOfOne ? "?" : `?${String(i)}`);
    byPod.set(key, [message, ...(byPod.get(key) ?? [])]);
  });
  const groups: PastedGroup<Message>[] = [];
  for (const ofPod of byPod.values()) {
    const newestFirst = ofPod.toSorted((a, b) => (ageSeconds(a.at) ?? 0) - (ageSeconds(b.at) ?? 0));
    const newest = newestFirst.filter((message, i) => newestFirst.findIndex(({ component }) => component === message.component) === i);
    const [latest, ...beside] = newest.toSorted((a, b) => Number(a.component !== "") - Number(b.component !== "")) as [Message, ...Message[]];
    const earlier = newestFirst.filter((message) => !newest.includes(message));
    const texts = textsOf({ latest, beside });
    const same = groups.find((group) => textsOf(group) === texts && latest.pod && group.pods.length);
    if (!same) groups.push({ pods: latest.pod ? [latest.pod] : [], latest, beside, earlier });
    else {
      same.pods.push(latest.pod);
      same.earlier.push(...earlier.filter(({ text }) => same.earlier.every((one) => one.text !== text)));
    }
  }
  return groups;
}
