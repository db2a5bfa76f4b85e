import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "svelte/compiler";
import { afterEach, describe, expect, it } from "vitest";

import { ENGLISH, languageAmong, plural, setVocabularySource, t, vocabularyOf } from "../../src/i18n/translate";

const MESSAGES = join(import.meta.dirname, "../../src/i18n/messages");
/** The files of a language; `zh-CN.explain.json` has translations of the server's sentences, which have no keys. */
const filesOf = (language: string): Record<string, string>[] =>
  readdirSync(MESSAGES)
    .filter((name) => name.startsWith(`${language}.`) && name !== "zh-CN.explain.json")
    .map((name) => JSON.parse(readFileSync(join(MESSAGES, name), "utf8")) as Record<string, string>);
const english = Object.assign({}, ...filesOf("en")) as Record<string, string>;
const chinese = Object.assign({}, ...filesOf("zh-CN")) as Record<string, string>;
/** Chinese has one form for every count. */
const isExtraForm = (key: string): boolean => key.endsWith(".one") && key.replace(/one$/, "other") in english;
const placeholders = (message: string): string[] => [...message.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).sort();

afterEach(() => {
  setVocabularySource(() => ENGLISH);
});

describe("the message catalogues", () => {
  it("have every key in Chinese", () => {
    expect(Object.keys(english).filter((key) => !isExtraForm(key) && !(key in chinese))).toEqual([]);
  });

  it("have no Chinese key that English lacks", () => {
    expect(Object.keys(chinese).filter((key) => !(key in english))).toEqual([]);
  });

  it("define each key once", () => {
    const keys = filesOf("en").flatMap((file) => Object.keys(file));
    expect(keys.filter((key, place) => keys.indexOf(key) < place)).toEqual([]);
  });

  it("use the same placeholders in both languages", () => {
    const differing = Object.keys(chinese).filter((key) => placeholders(chinese[key]!).join() !== placeholders(english[key]!).join());
    expect(differing).toEqual([]);
  });
});

describe("Chinese messages", () => {
  const messages = Object.entries(chinese);

  it("have a space between Chinese and Latin letters or digits", () => {
    const HAN = "\\p{Script=Han}";
    const tight = new RegExp(`${HAN}[A-Za-z0-9{]|[A-Za-z0-9}]${HAN}`, "u");
    expect(messages.filter(([, message]) => tight.test(message)).map(([key, message]) => `${key}: ${message}`)).toEqual([]);
  });

  it("use full-width punctuation after Chinese, without spaces around it", () => {
    const narrow = /\p{Script=Han}\s*[,;:?!](?!\/)|\p{Script=Han}\.(?!\.)|\s[，。：；？！]|[，。：；？！、] /u;
    expect(messages.filter(([, message]) => narrow.test(message)).map(([key, message]) => `${key}: ${message}`)).toEqual([]);
  });

  it("keep the terms of Kubernetes in English", () => {
    const words = ["activeQ", "backoffQ", "unschedulablePods", "headNode", "UpdateSnapshot", "generation", "API server", "moveRequestCycle"];
    const translated = messages.filter(([key, message]) => words.some((word) => english[key]!.includes(word) && !message.includes(word)));
    expect(translated.map(([key]) => key)).toEqual([]);
  });
});

describe("the language", () => {
  it("has one plural form in Chinese", async () => {
    const words = await vocabularyOf("zh-CN");
    setVocabularySource(() => words);

    expect(t("cycle.title.number", { cycle: 42 })).toBe("调度周期 42");
    expect(plural("queue.pods", 1)).toBe("1 个 Pod");
    expect(plural("queue.pods", 1200)).toBe("1,200 个 Pod");
    expect(plural("narration.scheduled", 1, { cycle: 2, pod: "a", node: "n1" })).toBe("周期 2 · a 调度到唯一可行的节点 n1");
  });

  it("has no space between Chinese characters where a value is Chinese", async () => {
    const words = await vocabularyOf("zh-CN");
    setVocabularySource(() => words);

    const few = { size: t("experiments.about", { size: 7 }), nodes: plural("experiments.noun.nodes", 7) };
    expect(t("experiments.less.nodesUsed", few)).toBe("少用约 7 个节点");
    expect(t("experiments.less.nodesUsed", { ...few, size: "3" })).toBe("少用 3 个节点");
  });

  it("is the first supported one that the browser accepts", () => {
    expect(languageAmong(["de-DE", "zh-Hans-CN", "en"])).toBe("zh-CN");
    expect(languageAmong(["en-GB", "zh"])).toBe("en");
    expect(languageAmong(["zh-TW"])).toBe("en");
    expect(languageAmong([])).toBe("en");
  });
});

describe("the sources", () => {
  const SOURCES = join(import.meta.dirname, "../../src");
  const names = readdirSync(SOURCES, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".svelte"));
  /** What is called the same in every language: programs, members of the scheduler's state, resources, keys. */
  const NAMES = new Set(
    `schedviz kube-scheduler v1.27.1 kubectl headNode API server informers activeQ backoffQ unschedulablePods nodeTree imageStates
    schedulingCycle moveRequestCycle cpu memory pods args percentageOfNodesToScore podInitialBackoffSeconds podMaxBackoffSeconds
    bindingFinished deadline PDB YAML JSON Esc Space`.split(/\s+/),
  );
  const SPOKEN = new Set(["title", "aria-label", "placeholder", "alt"]);

  /** Texts that are written into the markup, where a message key should stand. */
  function stray(node: unknown): string[] {
    if (Array.isArray(node)) return node.flatMap(stray);
    if (typeof node !== "object" || node === null) return [];
    const { type, name, data, value, ...rest } = node as Record<string, unknown>;
    if (type === "Attribute") return SPOKEN.has(String(name)) && Array.isArray(value) ? value.flatMap(stray) : [];
    if (type === "RegularElement" && (name === "code" || name === "kbd")) return []; // To be typed as it is.
    if (type === "Text") return (String(data).match(/[A-Za-z][\w.-]+/g) ?? []).filter((word) => !NAMES.has(word));
    return Object.values(rest).flatMap(stray);
  }

  it("use every message", () => {
    const text = names.filter((name) => /\.(svelte|ts)$/.test(name)).map((name) => readFileSync(join(SOURCES, name), "utf8")).join("\n");
    const literals = new Set([...text.matchAll(/"([\w.-]+)"/g)].map(([, literal]) => literal));
    const patterns = [...text.matchAll(/`((?:[\w.-]|\$\{[^{}`]*\})+)`/g)].map(([, template]) => template!.replaceAll(".", "\\.").replace(/\$\{[^}]*\}/g, ".+"));
    const templates = patterns.filter((pattern) => pattern.includes("\\.") && /[a-z]/.test(pattern)).map((pattern) => new RegExp(`^${pattern}$`));
    // `plural` adds the form to its key.
    const isUsed = (key: string): boolean => literals.has(key) || literals.has(key.replace(/\.(one|other)$/, "")) || templates.some((template) => template.test(key));

    expect(Object.keys(english).filter((key) => !isUsed(key))).toEqual([]);
  });

  it("contain no text that is not a message", () => {
    const found = files.flatMap((name) => {
      const { fragment } = parse(readFileSync(join(SOURCES, name), "utf8"), { modern: true });
      return stray(fragment).map((words) => `${name}: ${words}`);
    });
    expect(found).toEqual([]);
  });
});
