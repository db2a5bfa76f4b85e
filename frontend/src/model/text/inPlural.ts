/** English sentences about one pod as sentences about several, for pods that have the same messages. As `explain/pasted/in_plural.py`. */

const IRREGULAR: Record<string, string> = { is: "are", was: "were", has: "have", does: "do", matches: "match" };

/** The text about `count` pods. Code between backticks stays. */
export function inPlural(text: string, count: number): string {
  return count <= 1 ? text : text.split("`").map((part, i) => (i % 2 ? part : pluralOf(part, count))).join("`");
}

/** The same for every text in a value that has a phrase; the texts replace the phrases. */
export function valueInPlural<T>(value: T, count: number): T {
  if (count <= 1 || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each: unknown) => valueInPlural(each, count)) as T;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]: [string, unknown]) => {
      if (key.endsWith("Phrase")) return [key, null];
      if (typeof member === "string") return [key, `${key}Phrase` in value ? inPlural(member, count) : member];
      return [key, valueInPlural(member, count)];
    }),
  ) as T;
}

function pluralOf(text: string, count: number): string {
  return text
    .replace(/\b([Tt])his pod('s)?\b/g, (_, first: string, owner?: string) => `${first}hese ${String(count)} pods${owner ? "'" : ""}`)
    .replace(/\b([Tt])he pod's\b/g, "$1he pods'")
    .replace(/\b([Tt])he pod\b(?!')/g, "$1he pods")
    .replace(/(\b[Tt]he(?:se \d+)? pods )([a-z]+)(?: and ([a-z]+s)\b)?/g, (_, pods: string, verb: string, second?: string) => `${pods}${verbOf(verb)}${second ? ` and ${verbOf(second)}` : ""}`);
}

function verbOf(word: string): string {
  return IRREGULAR[word] ?? (word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word);
}
