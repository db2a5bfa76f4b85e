import { call } from "./call";

/** An object of the simulated API server, by kind, namespace and name. */
export interface ObjectName {
  kind: string;
  name: string;
  namespace?: string;
}

/** The object with the fields that the scheduler reads, after an event or now. Digests of the fields that are not stored are left out. */
export async function fetchStoredObject<T>(session: string, { kind, name, namespace = "" }: ObjectName, at?: number, signal?: AbortSignal): Promise<T> {
  const query = new URLSearchParams({ kind, name, ...(namespace ? { namespace } : {}), ...(at === undefined ? {} : { at: String(at) }) });
  return withoutDigests(await call<T>("GET", `sessions/${session}/objects/?${query.toString()}`, { signal }));
}

/** The names of the nodes that a label selector (in the syntax of `kubectl -l`) matches, after an event. */
export async function selectNodes(session: string, selector: string, at: number, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const query = new URLSearchParams({ kind: "Node", selector, at: String(at) });
  const { names } = await call<{ names: string[] }>("GET", `sessions/${session}/objects/selected/?${query.toString()}`, { signal });
  return new Set(names);
}

/** Without the digests of fields that are not stored, and without resourceVersion, which an update would have to match. */
function withoutDigests<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutDigests) as T;
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name]) => !/^unread[A-Z]?/.test(name) && name !== "resourceVersion");
  return Object.fromEntries(members.map(([name, inner]) => [name, withoutDigests(inner as unknown)])) as T;
}
