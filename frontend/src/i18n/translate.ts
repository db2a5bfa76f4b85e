import drawn from "./messages/en.json";
import asking from "./messages/en.asking.json";
import doing from "./messages/en.doing.json";
import lessons from "./messages/en.lessons.json";
import rooms from "./messages/en.rooms.json";

const en = { ...drawn, ...doing, ...asking, ...lessons, ...rooms };

/**
 * The English files are the list of keys; a language that lacks one falls back to it. `*.doing.json` is what is said where one acts,
 * `*.asking.json` where one asks: why, what if, how two runs differ; `*.lessons.json` where one learns, `*.rooms.json` where many do.
 */
export type MessageKey = keyof typeof en;
export type Messages = Partial<Record<MessageKey, string>>;

/** The languages of the page, each under its own name. */
export const LANGUAGES = { en: "English", "zh-CN": "简体中文" } as const;
export type Language = keyof typeof LANGUAGES;

/** A language with its words. */
export interface Vocabulary {
  language: Language;
  messages: Messages;
  /** What the server says of pods and nodes, by its English templates (see phrase.ts); English needs none. */
  phrases?: Record<string, string>;
}

type Values = Record<string, string | number>;

export const ENGLISH: Vocabulary = { language: "en", messages: en };

let spoken: () => Vocabulary = () => ENGLISH;

/** Where `t` looks up the language. A reactive source makes every text that is drawn with `t` change in place. */
export function speakFrom(source: () => Vocabulary): void {
  spoken = source;
}

/** The words of a language: English is there, others are fetched when they are first wanted. */
export async function vocabularyOf(language: Language): Promise<Vocabulary> {
  if (language === "en") return ENGLISH;
  const files = await Promise.all([
    import("./messages/zh-CN.json"),
    import("./messages/zh-CN.doing.json"),
    import("./messages/zh-CN.asking.json"),
    import("./messages/zh-CN.lessons.json"),
    import("./messages/zh-CN.rooms.json"),
  ]);
  const phrases = (await import("./messages/zh-CN.explain.json")).default;
  return { language, messages: Object.assign({}, ...files.map((file) => file.default)) as Messages, phrases };
}

/** The first language of the page that is among those that somebody reads, as BCP 47 tags in their order; else English. */
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
  const message = spoken().messages[key] ?? en[key];
  return values ? message.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : message;
}

/** Made once: `toLocaleString` makes one for each call, which pages that play feel. */
const counts = new Intl.NumberFormat("en");

/** The form for a count: `key.one` or `key.other`, with `{count}` printed. Chinese has `key.other` alone. */
export function plural(key: string, count: number, values?: Values): string {
  const form = `${key}.${count === 1 && spoken().language === "en" ? "one" : "other"}` as MessageKey;
  return t(form, { count: counts.format(count), ...values });
}

/** A template of the server in the language in force; undefined: there is none, or it is English. */
export function phraseIn(template: string): string | undefined {
  return spoken().phrases?.[template];
}

/** The language in force, as a BCP 47 tag: for dates and for `lang`. */
export function language(): Language {
  return spoken().language;
}
