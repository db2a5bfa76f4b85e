import "../../i18n/search";
import { addressOf, getCourse } from "../../api/lessons";
import terms from "../../i18n/messages/glossary.json";
import type { Language } from "../../i18n/translate";

/** A text that the search finds: a term of the glossary with its meaning, or a lesson. `extra` is searched, too. */
export interface FoundText {
  id: string;
  title: string;
  extra: string;
  detail: string;
  keys: readonly string[];
  kind: "term" | "lesson";
  run(): void;
}

/** The terms of the glossary. Choosing one opens the glossary there. */
function termsIn(language: Language): FoundText[] {
  return terms.map(({ title, names, meaning }) => ({
    id: `term/${title.en}`,
    keys: [],
    title: title[language],
    extra: names.join(" "),
    detail: meaning[language],
    kind: "term",
    run() {
      location.assign(`/docs/glossary/#:~:text=${encodeURIComponent(title.en)}`);
    },
  }));
}

/** The lessons of the course. Choosing one begins it, or continues it. */
async function lessonsIn(language: Language): Promise<FoundText[]> {
  const { parts } = await getCourse();
  return parts.flatMap(({ lessons }) =>
    lessons.map(({ name, title, about }): FoundText => ({
      id: `lesson/${name}`,
      keys: [],
      title: plain(title[language]),
      extra: `${name.replaceAll("-", " ")} ${plain(title.en)}`,
      detail: plain(about[language]),
      kind: "lesson",
      run() {
        location.assign(addressOf(name));
      },
    })),
  );
}

/** The terms of the glossary, and then the lessons too. `show` is called with the texts so far. */
export async function showTexts(language: Language, show: (texts: readonly FoundText[]) => void): Promise<void> {
  const found = termsIn(language);
  show(found);
  show([...found, ...(await lessonsIn(language))]);
}

/** The text of HTML that the server sanitized. */
function plain(html: string): string {
  return new DOMParser().parseFromString(html, "text/html").body.textContent.trim();
}
