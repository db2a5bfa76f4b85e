/** YAML text with the positions of its parts. */
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, stringify, type Document, type Node } from "yaml";

export type Path = readonly (string | number)[];

/** A finding about a part of a text. `info`: not an error; the part has no effect. */
export interface Problem {
  from: number;
  to: number;
  severity: "error" | "warning" | "info";
  message: string;
}

export interface Reading {
  document: Document;
  value: unknown;
  /** The YAML syntax errors. */
  problems: Problem[];
}

export function read(text: string): Reading {
  const document = parseDocument(text, { lineCounter: new LineCounter(), prettyErrors: false, uniqueKeys: true });
  const problems = [...document.errors, ...document.warnings].map(
    ({ pos: [from, to], message }): Problem => ({ from: Math.min(from, text.length), to: Math.min(Math.max(to, from), text.length), severity: "error", message }),
  );
  let value: unknown = null;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    problems.push({ from: 0, to: Math.min(1, text.length), severity: "error", message: error instanceof Error ? error.message : String(error) });
  }
  return { document, value, problems };
}

/** An object as YAML, as kubectl prints it. */
export function written(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** The position of a value; of a missing member, the start of its nearest parent. */
export function rangeOf(reading: Reading, path: Path): { from: number; to: number } {
  let node: unknown = reading.document.contents;
  let range = firstLine(node);
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (!pair) break;
      range = span(pair.key);
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      if (!isNode(node)) break;
      range = firstLine(node);
    } else break;
  }
  return isScalar(node) && node.range && node.range[1] > node.range[0] ? span(node) : range;
}

/** The steps of a path such as `spec.containers[0].resources`, with or without a leading `$.`. */
export function stepsOf(path: string): (string | number)[] {
  const steps = path.replace(/^\$\.?/, "").match(/\["[^"]*"\]|\['[^']*'\]|\[\d+\]|[^.[\]]+/g) ?? [];
  return steps.map((step) => (/^\[\d+\]$/.test(step) ? Number(step.slice(1, -1)) : step.replace(/^\[["']|["']\]$/g, "")));
}

export function span(node: unknown): { from: number; to: number } {
  const range = (node as Node | null)?.range;
  return range ? { from: range[0], to: range[1] } : { from: 0, to: 0 };
}

/** The start of a part, up to its first key: underlining a whole block does not help. */
function firstLine(node: unknown): { from: number; to: number } {
  if (isMap(node) && node.items[0]) return span(node.items[0].key);
  if (isSeq(node) && isNode(node.items[0])) return firstLine(node.items[0]);
  return span(node);
}
