/** Reads a KubeSchedulerConfiguration for the form, and edits its text; comments are preserved. */
import { parseDocument } from "yaml";

import { read, type Path } from "./reading";
import { pluginsOf, type Simulated } from "./schema";

export interface PluginLine {
  name: string;
  points: string[];
  on: boolean;
  weight: number;
  /** Enabled by default. */
  byDefault: boolean;
  /** Mentioned in the configuration. */
  spoken: boolean;
  /** Listed for a single extension point, which a checkbox cannot express. */
  byPoint: string[];
  takesArgs: boolean;
  hasArgs: boolean;
}

export interface ProfileForm {
  schedulerName: string;
  percentage: number | null;
  plugins: PluginLine[];
}

interface Named {
  name?: string;
  weight?: number;
}
interface Written {
  percentageOfNodesToScore?: number;
  podInitialBackoffSeconds?: number;
  podMaxBackoffSeconds?: number;
  profiles?: {
    schedulerName?: string;
    percentageOfNodesToScore?: number;
    plugins?: Record<string, { enabled?: Named[]; disabled?: Named[] } | undefined>;
    pluginConfig?: Named[];
  }[];
}

export interface ConfigurationForm {
  percentage: number | null;
  initialBackoff: number | null;
  maxBackoff: number | null;
  profiles: ProfileForm[];
}

/** The parsed text; null if it is not a YAML mapping. */
export function formOf(text: string, simulated: Simulated, takesArgs: (plugin: string) => boolean): ConfigurationForm | null {
  const known = pluginsOf(simulated);
  const { value, problems } = read(text);
  if (problems.length || typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const written = value as Written;
  const profiles = Array.isArray(written.profiles) && written.profiles.length ? written.profiles : [{}];
  return {
    percentage: written.percentageOfNodesToScore ?? null,
    initialBackoff: written.podInitialBackoffSeconds ?? null,
    maxBackoff: written.podMaxBackoffSeconds ?? null,
    profiles: profiles.map((profile) => {
      const sets = profile?.plugins ?? {};
      const { enabled = [], disabled = [] } = sets["multiPoint"] ?? {};
      const configured = new Set((profile?.pluginConfig ?? []).map(({ name }) => name));
      const names = [...known.map(({ name }) => name), ...enabled.map(({ name = "" }) => name)];
      const lines = [...new Set(names)].filter(Boolean).map((name): PluginLine => {
        const facts = known.find((plugin) => plugin.name === name);
        const chosen = enabled.find((plugin) => plugin.name === name);
        const off = disabled.some((plugin) => plugin.name === name || plugin.name === "*");
        const byPoint = Object.entries(sets)
          .filter(([point, set]) => point !== "multiPoint" && [...(set?.enabled ?? []), ...(set?.disabled ?? [])].some((plugin) => plugin.name === name))
          .map(([point]) => point);
        const byDefault = facts?.weight !== undefined;
        return {
          name,
          points: facts?.points ?? [],
          on: chosen !== undefined || (byDefault && !off),
          weight: (chosen?.weight ?? facts?.weight ?? 0) || 1,
          byDefault,
          spoken: chosen !== undefined || disabled.some((plugin) => plugin.name === name),
          byPoint,
          takesArgs: takesArgs(name),
          hasArgs: configured.has(name),
        };
      });
      return { schedulerName: profile?.schedulerName ?? "default-scheduler", percentage: profile?.percentageOfNodesToScore ?? null, plugins: lines };
    }),
  };
}

/** The text with a plugin of a profile enabled or disabled, or with another weight. Defaults are not written. */
export function withPlugin(text: string, simulated: Simulated, profile: number, name: string, { on, weight }: { on: boolean; weight?: number }): string {
  const facts = pluginsOf(simulated).find((plugin) => plugin.name === name);
  const isDefault = facts?.weight !== undefined;
  const usual = (facts?.weight ?? 0) || 1;
  return changed(text, (document) => {
    const base: Path = ["profiles", profile, "plugins", "multiPoint"];
    const set = ((document.toJS() as Written).profiles?.[profile]?.plugins?.["multiPoint"] ?? {}) as { enabled?: Named[]; disabled?: Named[] };
    const others = (list: Named[] | undefined): Named[] => (list ?? []).filter((plugin) => plugin.name !== name);
    const index = (set.enabled ?? []).findIndex((plugin) => plugin.name === name);
    const enabled = others(set.enabled);
    const disabled = others(set.disabled);
    const isAllOff = disabled.some((plugin) => plugin.name === "*");
    const newWeight = weight ?? (index >= 0 ? (set.enabled![index]!.weight ?? usual) : usual);
    if (on && (!isDefault || isAllOff || newWeight !== usual)) enabled.splice(index >= 0 ? index : enabled.length, 0, newWeight === usual && isDefault ? { name } : { name, weight: newWeight });
    if (!on && isDefault && !isAllOff) disabled.push({ name });
    put(document, [...base, "enabled"], enabled);
    put(document, [...base, "disabled"], disabled);
  });
}

/** The text with arguments for a plugin; empty ones if it had none. */
export function withArgs(text: string, profile: number, name: string): string {
  return changed(text, (document) => {
    const written = (document.toJS() as Written).profiles?.[profile]?.pluginConfig ?? [];
    if (!written.some((entry) => entry.name === name)) document.setIn(["profiles", profile, "pluginConfig", written.length], document.createNode({ name, args: {} }));
  });
}

/** The text with a number set or removed at a path. */
export function withNumber(text: string, path: Path, value: number | null): string {
  return changed(text, (document) => {
    if (value === null) {
      if (document.hasIn(path)) document.deleteIn(path);
    } else document.setIn(path, value);
  });
}

type Parsed = ReturnType<typeof parseDocument>;

function changed(text: string, change: (document: Parsed) => void): string {
  const document = parseDocument(text);
  if (document.contents === null) (document as { contents: unknown }).contents = document.createNode({});
  if (!document.has("profiles")) document.set("profiles", document.createNode([{ schedulerName: "default-scheduler" }]));
  change(document);
  return document.toString({ lineWidth: 0 });
}

/** The list at a path; an empty list is removed with its empty parents. */
function put(document: Parsed, path: Path, list: readonly Named[]): void {
  if (list.length) {
    for (let depth = 1; depth < path.length; depth++) {
      const outer = path.slice(0, depth);
      if (document.getIn(outer) === undefined || document.getIn(outer) === null) document.setIn(outer, document.createNode({}));
    }
    document.setIn(path, document.createNode(list));
    return;
  }
  if (!document.hasIn(path)) return;
  document.deleteIn(path);
  for (let depth = path.length - 1; depth > 2; depth--) {
    const outer = document.getIn(path.slice(0, depth)) as { items?: unknown[] } | undefined;
    if (!outer?.items || outer.items.length) return;
    document.deleteIn(path.slice(0, depth));
  }
}
