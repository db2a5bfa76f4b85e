import actions from "./messages/en.actions.json";
import main from "./messages/en.json";
import type agreement from "./messages/en.agreement.json";
import type because from "./messages/en.because.json";
import type compare from "./messages/en.compare.json";
import type devices from "./messages/en.devices.json";
import type experiments from "./messages/en.experiments.json";
import type forms from "./messages/en.forms.json";
import type home from "./messages/en.home.json";
import type lessons from "./messages/en.lessons.json";
import type narration from "./messages/en.narration.json";
import type node from "./messages/en.node.json";
import type outcomes from "./messages/en.outcomes.json";
import type placed from "./messages/en.placed.json";
import type queries from "./messages/en.queries.json";
import type rooms from "./messages/en.rooms.json";
import type search from "./messages/en.search.json";
import type stages from "./messages/en.stages.json";
import type v136 from "./messages/en.v136.json";

const bundled = { ...main, ...actions };
const en = { ...bundled } as typeof bundled &
  typeof agreement &
  typeof because &
  typeof compare &
  typeof devices &
  typeof experiments &
  typeof forms &
  typeof home &
  typeof lessons &
  typeof narration &
  typeof node &
  typeof outcomes &
  typeof placed &
  typeof queries &
  typeof rooms &
  typeof search &
  typeof stages &
  typeof v136;

/**
 * The English files define the keys; a language that lacks one falls back to English. `en.json` and `en.actions.json` are part of the first
 * load. The English of another file is added by the module of its name (`en.devices.json` by `devices.ts`), which what is loaded on demand
 * imports if it shows such messages. The Chinese messages of an English file are in the file of its name, or else in `zh-CN.json`.
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
  if (!values) return message;
  const text = message.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
  return spoken().language === "zh-CN" ? closedUp(text) : text;
}

/** A Chinese text without the spaces that a placeholder leaves between Chinese characters if its value is Chinese, too. */
export function closedUp(text: string): string {
  return text.replace(/(?<=[\p{Script=Han}，。：；、（）]) (?=[\p{Script=Han}，。：；、（）])/gu, "");
}

/** Created once: `toLocaleString` creates one in each call, which slows playback down. */
const counts = new Intl.NumberFormat("en");

/** The form for a count: `key.one` or `key.other`, with `{count}` formatted. Chinese has `key.one` only for what it says differently. */
export function plural(key: string, count: number, values?: Values): string {
  const form = `${key}.${count === 1 && `${key}.one` in spoken().messages ? "one" : "other"}` as MessageKey;
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
