/** Validates a document against its schema: errors, and members that the scheduler does not read. */
import "../i18n/forms";
import { isAlias, isMap, isScalar, isSeq, type Pair, type YAMLMap } from "yaml";

import { t } from "../i18n/translate";
import { read, rangeOf, span, stepsOf, type Problem, type Reading } from "./reading";
import { CONFIGURATION, KINDS, memberOf, pluginsOf, resolved, schemaOfKind, type PluginFacts, type Schema, type Simulated } from "./schema";

const QUANTITY = /^[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
/** The maximum number of names in a message. */
const MAX_NAMES = 8;

/** All findings, in the order of the text. `kinds`: the kinds that are allowed; none: any YAML. `simulated`: whose plugins a configuration names. */
export function check(text: string, kinds: readonly string[], simulated?: Simulated): Problem[] {
  const reading = read(text);
  if (reading.problems.length || !kinds.length) return reading.problems;
  const kind = (reading.value as { kind?: unknown } | null)?.kind;
  if (!isMap(reading.document.contents)) return [{ from: 0, to: text.length, severity: "error", message: t("editor.object") }];
  const only = kinds.length === 1 ? kinds[0] : undefined;
  const name = kind === undefined ? only : String(kind);
  const schema = name === undefined || !kinds.includes(name) ? null : schemaOfKind(name);
  if (!schema) return [{ ...rangeOf(reading, ["kind"]), severity: "error", message: t("editor.kind", { kinds: kinds.join(", ") }) }];
  const problems: Problem[] = [];
  new Checker(problems, name === CONFIGURATION, simulated).look(reading.document.contents, schema, reading.value);
  return problems.sort((a, b) => a.from - b.from);
}

/** A server's error at the position that it refers to. `within`: the member of the request that contains this text: `object`, `config`. */
export function refused(text: string, path: string, within: string, message: string): Problem {
  const reading: Reading = read(text);
  const steps = stepsOf(path);
  return { ...rangeOf(reading, steps[0] === within ? steps.slice(1) : steps), severity: "error", message };
}

export const OBJECT_KINDS: readonly string[] = Object.keys(KINDS);

class Checker {
  private readonly plugins: readonly PluginFacts[];

  constructor(
    private readonly problems: Problem[],
    private readonly isConfiguration: boolean,
    private readonly simulated: Simulated | undefined,
  ) {
    this.plugins = simulated ? pluginsOf(simulated) : [];
  }

  look(node: unknown, schema: Schema, value: unknown): void {
    if (isAlias(node) || node === null) return;
    const expected = resolved(schema);
    if (expected.properties ?? expected.additionalProperties) this.members(node, expected, value);
    else if (expected.items) this.items(node, expected, value);
    else if (isScalar(node)) this.scalar(node, expected);
    else if (expected.type !== undefined && expected.type !== "object" && expected.type !== "array") this.wrong(node, typeOf(expected));
  }

  private members(node: unknown, schema: Schema, value: unknown): void {
    if (isScalar(node) && node.value === null) return;
    if (!isMap(node)) {
      this.wrong(node, t("editor.type.object"));
      return;
    }
    for (const pair of node.items) this.member(pair, schema, value);
    if (this.isConfiguration && schema.properties?.["weight"] && schema.properties["name"]) this.plugin(node);
  }

  private member(pair: Pair, schema: Schema, value: unknown): void {
    const name = isScalar(pair.key) ? String(pair.key.value) : "";
    const member = memberOf(schema, name, value);
    if (member) this.look(pair.value, member, (value as Record<string, unknown>)[name]);
    else if (schema["x-unread"]?.includes(name)) this.say(pair.key, "info", t("editor.unread", { name }));
    else this.say(pair.key, "error", this.unknown(name, Object.keys(schema.properties ?? {})));
  }

  private unknown(name: string, names: readonly string[]): string {
    const near = names.find((other) => other.toLowerCase() === name.toLowerCase()) ?? names.find((other) => distance(other, name) <= 2);
    if (near) return t("editor.unknown.near", { name, near });
    return t("editor.unknown", { name, names: `${names.slice(0, MAX_NAMES).join(", ")}${names.length > MAX_NAMES ? ", …" : ""}` });
  }

  private items(node: unknown, schema: Schema, value: unknown): void {
    if (isScalar(node) && node.value === null) return;
    if (!isSeq(node)) {
      this.wrong(node, t("editor.type.array"));
      return;
    }
    node.items.forEach((item, i) => {
      this.look(item, schema.items!, (value as unknown[])[i]);
    });
  }

  private scalar(node: { value: unknown }, schema: Schema): void {
    const { value } = node;
    if (value === null || schema.type === undefined) {
      if (schema.enum && value !== null && !schema.enum.includes(value)) this.say(node, "error", t("editor.choices", { choices: schema.enum.join(", ") }));
      return;
    }
    if (schema.format === "quantity") {
      if (!QUANTITY.test(String(value).trim())) this.say(node, "error", t("editor.quantity", { value: String(value) }));
      return;
    }
    const types = [schema.type].flat();
    const isRight = types.some(
      (type) =>
        type === typeof value || (type === "integer" && Number.isInteger(value)) || (type === "number" && typeof value === "bigint"),
    );
    if (!isRight) this.wrong(node, typeOf(schema));
    else if (schema.enum && !schema.enum.includes(value)) this.say(node, "error", t("editor.choices", { choices: schema.enum.join(", ") }));
    else if (typeof value === "number" && (value < (schema.minimum ?? -Infinity) || value > (schema.maximum ?? Infinity)))
      this.say(node, "error", t("editor.range", { least: String(schema.minimum), most: String(schema.maximum) }));
  }

  /** A plugin that is not listed may be one that the user installed: the server decides. kube-scheduler ignores it in a list of disabled plugins. */
  private plugin(node: YAMLMap): void {
    const name = node.get("name");
    if (!this.simulated || typeof name !== "string" || name === "*" || this.plugins.some((plugin) => plugin.name === name)) return;
    const near = this.plugins.find((plugin) => distance(plugin.name, name) <= 2)?.name;
    this.say(node.get("name", true), "warning", near ? t("editor.plugin.near", { name, near }) : t("editor.plugin", { name, release: this.simulated.release }));
  }

  private wrong(node: unknown, expected: string): void {
    this.say(node, "error", t("editor.type", { expected }));
  }

  private say(node: unknown, severity: Problem["severity"], message: string): void {
    const { from, to } = span(node);
    this.problems.push({ from, to: Math.max(to, from), severity, message });
  }
}

function typeOf(schema: Schema): string {
  const type = [schema.type].flat()[0];
  const key = `editor.type.${type}` as const;
  return ["string", "integer", "boolean", "number"].includes(String(type)) ? t(key as "editor.type.string") : String(type);
}

/** The edit distance of two words (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
