/** Completions at the cursor: the members of the surrounding object, or the values of the member on its line. */
import { CONFIGURATION, memberOf, pluginsOf, resolved, schemaOfKind, type PluginFacts, type Schema, type Simulated } from "./schema";
import type { Path } from "./reading";

export interface Suggestion {
  label: string;
  detail: string;
  about: string;
  /** The member has members or items of its own, which go on the next line. */
  opens: boolean;
}

export interface Suggestions {
  from: number;
  options: Suggestion[];
}

const KEY = /^(\s*(?:- +)*)([\w./-]*)$/;
const VALUE = /^(\s*(?:- +)*)([\w./-]+): +([\w./-]*)$/;

/** Completions at a position; null: none. `fallback`: the kind of a document that has none yet. `simulated`: whose plugins a configuration names. */
export function suggest(text: string, position: number, fallback: string, simulated?: Simulated): Suggestions | null {
  const before = text.slice(0, position).split("\n");
  const line = before.pop() ?? "";
  const kind = /^kind: *["']?(\w+)/m.exec(text)?.[1] ?? fallback;
  const schema = schemaOfKind(kind) ?? schemaOfKind(fallback);
  if (!schema) return null;
  const value = VALUE.exec(line);
  if (value) {
    const member = follow(schema, [...parents(before, value[1]!), value[2]!], before);
    const options = choices(member, simulated && kind === CONFIGURATION && value[2] === "name" ? pluginsOf(simulated) : []).map((label) => ({ label, detail: "", about: "", opens: false }));
    return options.length ? { from: position - value[3]!.length, options } : null;
  }
  const key = KEY.exec(line);
  if (!key) return null;
  const outer = follow(schema, parents(before, key[1]!), before);
  const properties = outer?.properties;
  if (!properties) return null;
  const options = Object.entries(properties).map(([label, member]) => {
    const inner = resolved(member);
    return { label, detail: shape(inner), about: inner.description ?? "", opens: !!(inner.properties ?? inner.items ?? inner.additionalProperties) };
  });
  return { from: position - key[2]!.length, options };
}

/** The path of the object that contains a line with this beginning, by the indentation of the lines before it. */
function parents(before: readonly string[], lead: string): Path {
  const path: (string | number)[] = [];
  let depth = lead.length;
  if (lead.includes("-")) {
    path.unshift(0);
    depth = lead.indexOf("-");
  }
  let wantsKey = lead.includes("-");
  for (let i = before.length - 1; i >= 0; i--) {
    const match = /^(\s*)((?:- +)*)([\w./-]+):(.*)$/.exec(before[i]!);
    if (!match) continue;
    const [, spaces = "", dashes = "", name = ""] = match;
    const column = spaces.length + dashes.length;
    // A list may have the indentation of the member that contains it.
    if (column < depth || (wantsKey && column === depth && !dashes)) {
      path.unshift(name);
      wantsKey = false;
      depth = column;
      if (dashes) {
        path.unshift(0);
        depth = spaces.length;
        wantsKey = true;
      }
    } else if (dashes && !wantsKey && spaces.length < depth && column === depth) {
      path.unshift(0);
      depth = spaces.length;
      wantsKey = true;
    }
    if (depth === 0 && !wantsKey) break;
  }
  return path;
}

function follow(schema: Schema, path: Path, before: readonly string[]): Schema | null {
  let current: Schema | null = schema;
  for (const step of path) {
    if (!current) return null;
    // The plugin that the arguments belong to is named a few lines above.
    current = memberOf(current, step, step === "args" ? { name: nearestName(before) } : undefined);
  }
  return current;
}

function nearestName(before: readonly string[]): string | undefined {
  return before.map((line) => /^\s*(?:- +)?name: *(\w+)/.exec(line)?.[1]).findLast((name) => name !== undefined);
}

function choices(schema: Schema | null, plugins: readonly PluginFacts[]): string[] {
  if (!schema) return [];
  if (schema.enum) return schema.enum.map(String);
  if (schema.type === "boolean") return ["true", "false"];
  return plugins.map((plugin) => plugin.name);
}

function shape(schema: Schema): string {
  if (schema.format === "quantity") return "500m, 2Gi";
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.items) return "[]";
  if (schema.properties ?? schema.additionalProperties) return "{}";
  return [schema.type].flat().join(" | ");
}
