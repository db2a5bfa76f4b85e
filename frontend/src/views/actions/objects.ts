import { fetchStoredObject, type ObjectName } from "../../api/objects";
import type { Update } from "../../model/generated";

export type { ObjectName } from "../../api/objects";

/** The object as YAML, with the fields that the scheduler reads. */
export async function fetchObject(session: string, name: ObjectName): Promise<string> {
  const [object, { written }] = await Promise.all([fetchStoredObject(session, name), import("../../editor/reading")]);
  return written(object);
}

/** The command that sets the number of replicas of a deployment, given its key. */
export async function scaled(session: string, key: string, replicas: number): Promise<Update> {
  const [namespace, name] = key.includes("/") ? (key.split("/", 2) as [string, string]) : ["default", key];
  const deployment = await fetchStoredObject<{ spec: object }>(session, { kind: "Deployment", namespace, name });
  return { op: "update", object: { ...deployment, spec: { ...deployment.spec, replicas } } };
}
