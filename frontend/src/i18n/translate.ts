import main from "./messages/en.json";
import queries from "./messages/en.queries.json";
import actions from "./messages/en.actions.json";
import lessons from "./messages/en.lessons.json";
import rooms from "./messages/en.rooms.json";
import type forms from "./messages/en.forms.json";
import type because from "./messages/en.because.json";
import type v136 from "./messages/en.v136.json";
import type experiments from "./messages/en.experiments.json";
import type home from "./messages/en.home.json";
import type devices from "./messages/en.devices.json";
import type narration from "./messages/en.narration.json";
import type compare from "./messages/en.compare.json";
import type node from "./messages/en.node.json";
import type outcomes from "./messages/en.outcomes.json";
import type placed from "./messages/en.placed.json";
import type agreement from "./messages/en.agreement.json";
import type stages from "./messages/en.stages.json";

const bundled = { ...main, ...actions, ...queries, ...lessons, ...rooms };
const en = { ...bundled } as typeof bundled & typeof forms & typeof v136 & typeof home & typeof experiments & typeof devices & typeof narration & typeof compare & typeof outcomes & typeof node & typeof placed & typeof because & typeof agreement & typeof stages;

/**
 * The English files define the keys; a language that lacks one falls back to English. `*.actions.json` has the messages of commands,
 * `*.queries.json` those of explanations and comparisons, `*.lessons.json` those of lessons, `*.rooms.json` those of rooms. The English of
 * the other files is loaded with what shows it: `*.forms.json` (forms.ts), `*.v136.json` (what v1.36 shows, and comparing releases: v136.ts),
 * `*.home.json` (the pages that create and list sessions: `loadHomeMessages`), `*.experiments.json` (the pages of experiments), `*.devices.json`
 * (devices.ts), `*.narration.json` (narration.ts), `*.compare.json` (compare.ts), `*.outcomes.json` (outcomes.ts), `*.node.json` (node.ts), `*.placed.json` (placed.ts),
 * `*.because.json` (because.ts), `*.agreement.json` (agreement.ts), `*.stages.json` (stages.ts).
 */
export type MessageKey = keyof typeof en;
export type Messages = Partial<Record<MessageKey, string>>;

/** The languages of the page, each under its own name. */
export const LANGUAGES = { en: "English", "zh-CN": "简体中文" } as const;
export type Language = keyof typeof LANGUAGES;

/** A language and its messages. */
export interface Vocabulary {
  language: Language;
  messages: Messages;
  /** Translations of the server's English templates (see phrase.ts); English has none. */
  phrases?: Record<string, string>;
}

type Values = Record<string, string | number>;

export const ENGLISH: Vocabulary = { language: "en", messages: en };

let spoken: () => Vocabulary = () => ENGLISH;

/** Where `t` looks up the language. With a reactive source, every text made with `t` updates in place. */
export function setVocabularySource(source: () => Vocabulary): void {
  spoken = source;
}

/** Adds English messages that are not part of the first load. Whatever shows them imports the module that adds them. */
export function addEnglish(messages: Messages): void {
  Object.assign(en, messages);
}

/** Load the English messages of the pages that create and list sessions. */
export async function loadHomeMessages(): Promise<void> {
  addEnglish((await import("./messages/en.home.json")).default);
}

/** The messages of a language. English is bundled; others are loaded when first needed. */
export async function vocabularyOf(language: Language): Promise<Vocabulary> {
  if (language === "en") return ENGLISH;
  const files = await Promise.all([
    import("./messages/zh-CN.json"),
    import("./messages/zh-CN.actions.json"),
    import("./messages/zh-CN.forms.json"),
    import("./messages/zh-CN.queries.json"),
    import("./messages/zh-CN.lessons.json"),
    import("./messages/zh-CN.rooms.json"),
    import("./messages/zh-CN.v136.json"),
    import("./messages/zh-CN.home.json"),
    import("./messages/zh-CN.experiments.json"),
  ]);
  const phrases = (await import("./messages/zh-CN.explain.json")).default;
  return { language, messages: Object.assign({}, ...files.map((file) => file.default)) as Messages, phrases };
}

/** The first supported language in a list of BCP 47 tags, in order of preference; else English. */
export function languageAmong(tags: readonly string[]): Language {
  for (const tag of tags) {
    const [primary, ...rest] = tag.toLowerCase().split("-");
    if (primary === "en") return "en";
    if (primary === "zh" && !rest.some((part) => ["hant", "tw", "hk", "mo"].includes(part))) return "zh-CN";
  }
  return "en";
}

/** The message with its `{placeholders}` filled. */
export function t(key: MessageKey, values?: Values): string {
  const message: string = spoken().messages[key] ?? (en as Messages)[key] ?? key;
  return values ? message.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder)) : message;
}

/** Created once: `toLocaleString` creates one in each call, which slows playback down. */
const counts = new Intl.NumberFormat("en");

/** The plural form for a count: `key.one` or `key.other`, with `{count}` formatted. Chinese has only `key.other`. */
export function plural(key: string, count: number, values?: Values): string {
  const form = `${key}.${count === 1 && spoken().language === "en" ? "one" : "other"}` as MessageKey;
  return t(form, { count: counts.format(count), ...values });
}

/** The translation of a server template in the current language; undefined: none, or the language is English. */
export function phraseIn(template: string): string | undefined {
  return spoken().phrases?.[template];
}

/** The current language as a BCP 47 tag, for dates and `lang`. */
export function language(): Language {
  return spoken().language;
}
