import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { describe, expect, it } from "vitest";

const SOURCES = join(import.meta.dirname, "../../src");
const MESSAGES = join(SOURCES, "i18n/messages");

interface Source {
  text: string;
  /** The modules that are loaded with it, and those that it loads on demand. */
  imports: string[];
  loads: string[];
}

/** The module that an import names. */
function moduleOf(from: string, name: string): string | null {
  const path = resolve(dirname(from), name);
  return [path, `${path}.ts`, `${path}.svelte.ts`].find((candidate) => /\.(ts|svelte)$/.test(candidate) && existsSync(candidate)) ?? null;
}

function sourceOf(path: string): Source {
  const text = readFileSync(path, "utf8");
  const modules = (pattern: RegExp): string[] => [...text.matchAll(pattern)].flatMap(([, name]) => moduleOf(path, name!) ?? []);
  return { text, imports: modules(/^\s*(?:import|export) (?!type )(?:[^"';]*? from )?"(\.[^"]+)"/gm), loads: modules(/(?<!typeof )\bimport\("(\.[^"]+)"\)/g) };
}

const names = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((name) => /\.(ts|svelte)$/.test(name));
const sources = new Map(names.map((name) => join(SOURCES, name)).map((path) => [path, sourceOf(path)]));

/** A module and all that is loaded with it. */
function loadedWith(module: string): Set<string> {
  const found = new Set<string>();
  const waiting = [module];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    waiting.push(...(sources.get(next)?.imports ?? []));
  }
  return found;
}

/** The module that adds the messages of a file, by key. */
const adderOf = new Map(
  [...sources].flatMap(([path, { text }]) => {
    const [, file] = /^import \w+ from "\.\/messages\/(en\.\w+\.json)";\nimport \{ addEnglish \}/m.exec(text) ?? [];
    return file === undefined ? [] : Object.keys(JSON.parse(readFileSync(join(MESSAGES, file), "utf8")) as object).map((key) => [key, path] as const);
  }),
);

/** Ids of commands look like keys. */
const IDS = /\bid: (["`]).*?\1|\bsend\("[\w.]+"/g;

const FIRST_LOAD = ["en.json", "en.actions.json"].flatMap((file) => Object.keys(JSON.parse(readFileSync(join(MESSAGES, file), "utf8")) as object));

/**
 * The modules that add the messages whose keys stand in a source: complete, without the form of a plural, or as a template. A template with keys
 * of the first load may have others that only a later module asks for.
 */
function addersFor({ text }: Source): Set<string> {
  const code = text.replace(IDS, "");
  const literals = [...code.matchAll(/"([a-z][\w.-]*)"/g)].map(([, literal]) => literal!);
  const templates = [...code.matchAll(/`([a-z][\w-]*\.(?:[\w.-]|\$\{[^{}`]*\})*)`/g)].map(([, template]) => new RegExp(`^${template!.replaceAll(".", "\\.").replace(/\$\{[^}]*\}/g, ".+")}$`));
  const ownTemplates = templates.filter((template) => !FIRST_LOAD.some((key) => template.test(key)));
  const matching = [...adderOf].filter(([key]) => ownTemplates.some((template) => template.test(key))).map(([, adder]) => adder);
  return new Set([...literals.flatMap((literal) => adderOf.get(literal) ?? adderOf.get(`${literal}.other`) ?? []), ...matching]);
}

describe("messages that are loaded on demand", () => {
  it("are loaded with every component that shows them", () => {
    const loadedOnDemand = new Set([...sources.values()].flatMap(({ loads }) => loads));
    const missing = [...loadedOnDemand].flatMap((module) => {
      const loaded = loadedWith(module);
      return [...loaded].flatMap((path) => {
        const source = sources.get(path);
        const adders = source ? [...addersFor(source)].filter((adder) => !loaded.has(adder)) : [];
        return adders.map((adder) => `${path.slice(SOURCES.length + 1)} in ${module.slice(SOURCES.length + 1)}: ${adder.slice(SOURCES.length + 1)}`);
      });
    });
    expect(missing).toEqual([]);
  });
});
