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
  return (await call<{ object: T }>("GET", `sessions/${session}/objects/?${query.toString()}`)).object;
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
