import { describePod, type Requested } from "../../api/describe";
import { fetchStoredObject } from "../../api/objects";
import { backoffLeft } from "../../model/queue/backoffWait";
import type { Create } from "../../model/generated";
import { printZone, shortKey, splitKey } from "../../model/names";
import { ADDED_NODE_PREFIX } from "../../model/cache/nodeOrder";
import type { Queued, State } from "../../model/state/state";
import { nodesOf } from "../actions/nodeObjects";

/** The most waiting pods that one node is made for. */
const MAX_PODS = 10;
const GIB = 2 ** 30;

/** A pod's requests, and the labels that its nodeSelector asks for. */
export interface Wanted {
  requests: Requested;
  selector: Readonly<Record<string, string>>;
}

/** A node that fits waiting pods, and when they can be tried there. */
export interface FittingNode {
  command: Create;
  name: string;
  pods: number;
  cpu: string;
  memory: string;
  /** Its extended resources and labels that the pods ask for, each after a comma; "": none. */
  more: string;
  /** Virtual seconds until the last of these pods has waited for its backoff. */
  seconds: number;
}

/** The pods that a new node could help: tried in vain, and not gated. */
export function podsInNeed({ queue }: State): readonly Queued[] {
  const waiting = [...queue.unschedulable.values(), ...queue.backoffQ.array, ...queue.errorBackoffQ.array];
  return waiting.filter(({ gated, attempts }) => !gated && attempts > 0);
}

/** A node with room for the first waiting pods together and with the labels that they select. Throws an `ApiError`. */
export async function fittingNode(session: string, state: State): Promise<FittingNode> {
  const pods = podsInNeed(state).slice(0, MAX_PODS);
  const wanted = await Promise.all(pods.map(({ pod }) => wantedBy(session, pod, state.event)));
  const { cpu, memory, extended } = roomFor(wanted.map(({ requests }) => requests));
  const [region = "", zone = region] = printZone(state.list.toArray()[0]?.zone ?? "").split(" / ");
  const names = new Set(state.list.toArray().map(({ name }) => name));
  const labels = labelsFor(wanted);
  const [command] = nodesOf({ count: 1, prefix: ADDED_NODE_PREFIX, zone, cpu, memory, pods: "110", extended, labels }, names);
  const name = (command?.object as { metadata: { name: string } } | undefined)?.metadata.name ?? "";
  const more = [...Object.entries(extended).map(([resource, amount]) => `${amount} ${resource}`), ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)];
  return { command: command!, name, pods: pods.length, cpu, memory, more: more.map((one) => `, ${one}`).join(""), seconds: Math.max(0, ...pods.map((pod) => backoffLeft(pod, state))) };
}

/** The pods in the queue that a new node cannot help, because scheduling gates hold them. */
export function gatedPods({ queue }: State): string[] {
  return [...queue.unschedulable.values()].filter(({ gated }) => gated).map(({ pod }) => shortKey(pod));
}

async function wantedBy(session: string, key: string, at: number): Promise<Wanted> {
  const { signal } = new AbortController();
  const pod = fetchStoredObject<{ spec: { nodeSelector?: Record<string, string> } }>(session, { kind: "Pod", ...splitKey(key) }, at, signal);
  const [{ requests }, { spec }] = await Promise.all([describePod(session, key, at, signal), pod]);
  return { requests, selector: spec.nodeSelector ?? {} };
}

/** The sum of requests, in whole cpus and GiB. */
export function roomFor(requests: readonly Requested[]): { cpu: string; memory: string; extended: Record<string, string> } {
  const sum = (amountIn: (of: Requested) => number | undefined): number => requests.reduce((total, of) => total + (amountIn(of) ?? 0), 0);
  const names = new Set(requests.flatMap(({ scalar }) => Object.keys(scalar ?? {})));
  return {
    cpu: String(Math.max(1, Math.ceil(sum(({ milliCPU }) => milliCPU) / 1000))),
    memory: `${Math.max(1, Math.ceil(sum(({ memory }) => memory) / GIB))}Gi`,
    extended: Object.fromEntries([...names].sort().map((name) => [name, String(sum(({ scalar }) => scalar?.[name]))])),
  };
}

/** The labels that the pods select. Of two values for one label, the first pod's counts. */
export function labelsFor(wanted: readonly Wanted[]): Record<string, string> {
  return Object.assign({}, ...wanted.map(({ selector }) => selector).reverse()) as Record<string, string>;
}
