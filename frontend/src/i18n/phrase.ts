import type { Phrase } from "../model/text/phrase";
import { closedUp, language, phraseIn } from "./translate";

/** A text and its language; English if there is no translation. */
export interface Said {
  text: string;
  lang: string;
}

const counts = new Intl.NumberFormat("en");

/** A phrase in the language of the page; `english` (the server's text) if there is no translation. */
export function say(phrase: Phrase | null | undefined, english: string): Said {
  const template = phraseIn(phrase?.template ?? english);
  if (template === undefined) return { text: english, lang: "en" };
  return { text: closedUp(filled(template, phrase?.values ?? {})), lang: language() };
}

/** A text with a capital first letter. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A sentence with a capital letter and a full stop; a command that begins it stays as it is. */
export function wholeSentence(text: string): string {
  const sentence = capitalized(text);
  return /[.!?:…。！？：]$/u.test(sentence) ? sentence : sentence + (/\p{Script=Han}/u.test(sentence) ? "。" : ".");
}

/** A phrase in the language of the page; in English if it has no translation. */
export function sayPhrase(phrase: Phrase): Said {
  return say(phrase, filled(phrase.template, phrase.values));
}

function filled(template: string, values: Phrase["values"]): string {
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) return placeholder;
    if (typeof value === "number") return counts.format(value);
    return typeof value === "string" ? value : filled(phraseIn(value.template) ?? value.template, value.values);
  });
}
