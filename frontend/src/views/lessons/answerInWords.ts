import type { Answer, LessonQuestion } from "../../api/lessons";
import type { Language } from "../../i18n/translate";

/** An answer as the learner read it: the words of an option, and names as they are. */
export function answerInWords(question: Pick<LessonQuestion, "options"> | null, answer: Answer | null, language: Language): string {
  const wordsOf = (value: string): string => textOf(question?.options.find(({ id }) => id === value)?.words[language] ?? "") || value;
  return [answer ?? []].flat().map((value) => wordsOf(String(value))).join(", ");
}

/** The text of HTML that the server made of Markdown. */
function textOf(html: string): string {
  return html
    .replace(/<[^>]+>/g, "")
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => ENTITIES[name]!)
    .trim();
}

const ENTITIES: Record<string, string> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };
