import generated from "./schema.json";

/** The subset of JSON Schema that `schema.json` uses. */
export interface Schema {
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  items?: Schema;
  $ref?: string;
  anyOf?: Schema[];
  /** Members of Kubernetes objects that the scheduler does not read. */
  "x-unread"?: readonly string[];
}

export interface PluginFacts {
  name: string;
  /** Extension points, by their names in `plugins`. */
  points: string[];
  /** Whether it is enabled by default; missing: it is not. */
  weight?: number;
  /** The feature gate without which it is not enabled by default. */
  gate?: { name: string; default: boolean };
}

/** What determines the plugins of a session: its release, and the feature gates that differ from the release's defaults. */
export interface Simulated {
  release: string;
  featureGates?: Readonly<Record<string, boolean>>;
}

interface Generated {
  "x-kinds": Record<string, { apiVersion: string; namespaced: boolean }>;
  /** By release. */
  "x-plugins": Record<string, PluginFacts[]>;
  "x-args": Record<string, string>;
  $defs: Record<string, Schema>;
}

const known = generated as unknown as Generated;

/** The plugins of a release, those that are enabled by default first; none for a release that this build does not have. */
export function pluginsOf({ release, featureGates = {} }: Simulated): readonly PluginFacts[] {
  return (known["x-plugins"][release] ?? []).map(({ name, points, weight, gate }) => {
    const isDefault = weight !== undefined && (!gate || (featureGates[gate.name] ?? gate.default));
    return { name, points, ...(isDefault ? { weight } : {}) };
  });
}

export const KINDS = known["x-kinds"];
export const CONFIGURATION = "KubeSchedulerConfiguration";
export const CONFIGURATION_VERSION = "kubescheduler.config.k8s.io/v1";

/** A document of a kind: its own members, and those that all kinds have. */
export function schemaOfKind(kind: string): Schema | null {
  const definition = known.$defs[kind];
  if (!definition || (kind !== CONFIGURATION && !(kind in KINDS))) return null;
  const version = kind === CONFIGURATION ? CONFIGURATION_VERSION : KINDS[kind]!.apiVersion;
  return { ...definition, properties: { apiVersion: { type: "string", enum: [version] }, ...definition.properties, kind: { type: "string", enum: [kind] } } };
}

/** The schema itself, or the definition that it refers to. */
export function resolved(schema: Schema): Schema {
  if (schema.$ref) return known.$defs[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)] ?? {};
  const choices = schema.anyOf;
  return choices?.length === 1 ? resolved(choices[0]!) : schema;
}

/** The arguments of a plugin; null: it has none. */
export function schemaOfArgs(plugin: unknown): Schema | null {
  const name = known["x-args"][String(plugin)];
  const definition = name === undefined ? undefined : known.$defs[name];
  if (!definition) return null;
  return { ...definition, properties: { apiVersion: { type: "string" }, kind: { type: "string" }, ...definition.properties } };
}

/** The schema of a member or a list item of a value with this schema; `value` determines which plugin's arguments are meant. */
export function memberOf(schema: Schema, name: string | number, value?: unknown): Schema | null {
  const outer = resolved(schema);
  if (typeof name === "number") return outer.items ? resolved(outer.items) : null;
  if (name === "args" && isPluginConfig(outer)) return schemaOfArgs((value as { name?: unknown } | undefined)?.name) ?? {};
  const member = outer.properties?.[name] ?? outer.additionalProperties;
  return member ? resolved(member) : null;
}

function isPluginConfig(schema: Schema): boolean {
  return schema === known.$defs["PluginConfig"];
}
