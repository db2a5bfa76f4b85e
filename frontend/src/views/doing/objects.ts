import { call } from "../../api/call";
import type { Update } from "../../model/generated";

/** An object of the simulated API server, by what it is called. */
export interface ObjectName {
  kind: string;
  name: string;
  namespace?: string;
}

/** The object as it is kept, that is with what the scheduler reads. */
async function fetchKept<T>(session: string, { kind, name, namespace = "" }: ObjectName): Promise<T> {
  const query = new URLSearchParams({ kind, name, ...(namespace ? { namespace } : {}) });
  return withoutDigests(await call<T>("GET", `sessions/${session}/objects/?${query.toString()}`));
}

/** Without the digests of what is not kept, and without the version, which would have to be the newest when it is sent back. */
function withoutDigests<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutDigests) as T;
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !/^unread[A-Z]?/.test(name) && name !== "resourceVersion");
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutDigests(inner as unknown)])) as T;
}

/** The object as YAML: what is kept of it, that is what the scheduler reads. */
export async function fetchObject(session: string, wanted: ObjectName): Promise<string> {
  const [object, { written }] = await Promise.all([fetchKept(session, wanted), import("../../editor/reading")]);
  return written(object);
}

/** The command that gives a deployment, by its key, another number of replicas. */
export async function scaled(session: string, key: string, replicas: number): Promise<Update> {
  const [namespace, name] = key.includes("/") ? (key.split("/", 2) as [string, string]) : ["default", key];
  const kept = await fetchKept<{ spec: object }>(session, { kind: "Deployment", namespace, name });
  return { op: "update", object: { ...kept, spec: { ...kept.spec, replicas } } };
}
