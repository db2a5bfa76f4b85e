import en from "./messages/en.json";

/** The English file is the list of keys; a language that lacks one falls back to it. */
export type MessageKey = keyof typeof en;

type Values = Record<string, string | number>;

let messages: Partial<Record<MessageKey, string>> = en;

export function setLanguage(translated: Partial<Record<MessageKey, string>>): void {
  messages = translated;
}

/** The message with its `{placeholders}` filled. */
export function t(key: MessageKey, values?: Values): string {
  const message = messages[key] ?? en[key];
  return values ? message.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : message;
}

/** The form for a count: `key.one` or `key.other`, with `{count}` printed. */
export function plural(key: string, count: number, values?: Values): string {
  const form = `${key}.${count === 1 ? "one" : "other"}` as MessageKey;
  return t(form, { count: count.toLocaleString("en"), ...values });
}
