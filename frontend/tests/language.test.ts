import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "svelte/compiler";
import { afterEach, describe, expect, it } from "vitest";

import queries from "../src/i18n/messages/en.queries.json";
import actions from "../src/i18n/messages/en.actions.json";
import forms from "../src/i18n/messages/en.forms.json";
import v136 from "../src/i18n/messages/en.v136.json";
import main from "../src/i18n/messages/en.json";
import lessons from "../src/i18n/messages/en.lessons.json";
import rooms from "../src/i18n/messages/en.rooms.json";
import home from "../src/i18n/messages/en.home.json";
import experiments from "../src/i18n/messages/en.experiments.json";
import devices from "../src/i18n/messages/en.devices.json";
import narration from "../src/i18n/messages/en.narration.json";
import compare from "../src/i18n/messages/en.compare.json";
import node from "../src/i18n/messages/en.node.json";
import outcomes from "../src/i18n/messages/en.outcomes.json";
import placed from "../src/i18n/messages/en.placed.json";
import because from "../src/i18n/messages/en.because.json";
import agreement from "../src/i18n/messages/en.agreement.json";
import stages from "../src/i18n/messages/en.stages.json";
import queriesChinese from "../src/i18n/messages/zh-CN.queries.json";
import v136Chinese from "../src/i18n/messages/zh-CN.v136.json";
import actionsChinese from "../src/i18n/messages/zh-CN.actions.json";
import formsChinese from "../src/i18n/messages/zh-CN.forms.json";
import mainChinese from "../src/i18n/messages/zh-CN.json";
import lessonsChinese from "../src/i18n/messages/zh-CN.lessons.json";
import roomsChinese from "../src/i18n/messages/zh-CN.rooms.json";
import homeChinese from "../src/i18n/messages/zh-CN.home.json";
import experimentsChinese from "../src/i18n/messages/zh-CN.experiments.json";
import { ENGLISH, languageAmong, plural, setVocabularySource, t, vocabularyOf } from "../src/i18n/translate";

const english: Record<string, string> = { ...main, ...actions, ...forms, ...queries, ...lessons, ...rooms, ...v136, ...home, ...experiments, ...devices, ...narration, ...compare, ...outcomes, ...node, ...placed, ...because, ...agreement, ...stages };
const chinese: Record<string, string> = {
  ...mainChinese,
  ...actionsChinese,
  ...formsChinese,
  ...queriesChinese,
  ...lessonsChinese,
  ...roomsChinese,
  ...v136Chinese,
  ...homeChinese,
  ...experimentsChinese,
};
/** Chinese has one form for every count. */
const isExtraForm = (key: string): boolean => key.endsWith(".one") && key.replace(/one$/, "other") in english;
const placeholders = (message: string): string[] => [...message.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).sort();

afterEach(() => {
  setVocabularySource(() => ENGLISH);
});

describe("every language says everything", () => {
  it("has every key in Chinese", () => {
    expect(Object.keys(english).filter((key) => !isExtraForm(key) && !(key in chinese))).toEqual([]);
  });

  it("has no key that English lacks", () => {
    expect(Object.keys(chinese).filter((key) => !(key in english))).toEqual([]);
  });

  it("defines each key once", () => {
    const keys = [main, actions, forms, queries, lessons, rooms, v136, home, experiments, devices, narration, compare, outcomes, node, placed, because, agreement, stages].flatMap((file) => Object.keys(file));
    expect(keys.filter((key, place) => keys.indexOf(key) < place)).toEqual([]);
  });

  it("fills the same placeholders", () => {
    const differing = Object.keys(chinese).filter((key) => placeholders(chinese[key]!).join() !== placeholders(english[key]!).join());
    expect(differing).toEqual([]);
  });
});

describe("Chinese typography", () => {
  const messages = Object.entries(chinese);

  it("keeps a space between Chinese and Latin letters or figures", () => {
    const HAN = "\\p{Script=Han}";
    const tight = new RegExp(`${HAN}[A-Za-z0-9{]|[A-Za-z0-9}]${HAN}`, "u");
    expect(messages.filter(([, message]) => tight.test(message)).map(([key, message]) => `${key}: ${message}`)).toEqual([]);
  });

  it("uses full-width punctuation after Chinese, without spaces around it", () => {
    const narrow = /\p{Script=Han}\s*[,;:?!](?!\/)|\p{Script=Han}\.(?!\.)|\s[，。：；？！]|[，。：；？！、] /u;
    expect(messages.filter(([, message]) => narrow.test(message)).map(([key, message]) => `${key}: ${message}`)).toEqual([]);
  });

  it("leaves the words of Kubernetes as they are", () => {
    const words = ["activeQ", "backoffQ", "unschedulablePods", "headNode", "UpdateSnapshot", "generation", "API server", "moveRequestCycle"];
    const translated = messages.filter(([key, message]) => words.some((word) => english[key]!.includes(word) && !message.includes(word)));
    expect(translated.map(([key]) => key)).toEqual([]);
  });
});

describe("a switch", () => {
  it("speaks Chinese with one form for every count", async () => {
    const words = await vocabularyOf("zh-CN");
    setVocabularySource(() => words);

    expect(t("cycle.title.number", { cycle: 42 })).toBe("调度周期 42");
    expect(plural("queue.pods", 1)).toBe("1 个 Pod");
    expect(plural("queue.pods", 1200)).toBe("1,200 个 Pod");
  });

  it("takes the first language of the reader that the page speaks", () => {
    expect(languageAmong(["de-DE", "zh-Hans-CN", "en"])).toBe("zh-CN");
    expect(languageAmong(["en-GB", "zh"])).toBe("en");
    expect(languageAmong(["zh-TW"])).toBe("en");
    expect(languageAmong([])).toBe("en");
  });
});

describe("the sources", () => {
  const SOURCES = join(import.meta.dirname, "../src");
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".svelte"));
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

  it("write no sentence of their own into the page", () => {
    const found = files.flatMap((name) => {
      const { fragment } = parse(readFileSync(join(SOURCES, name), "utf8"), { modern: true });
      return stray(fragment).map((words) => `${name}: ${words}`);
    });
    expect(found).toEqual([]);
  });
});
