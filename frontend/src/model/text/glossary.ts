/** Finds the terms of the glossary in labels and sentences. The data is made from docs/glossary.md. */

export interface Term {
  /** As the glossary's page lists it. */
  title: { en: string; "zh-CN": string };
  /** How labels and sentences name it, in both languages. */
  names: string[];
  meaning: { en: string; "zh-CN": string };
  /** Explained in sentences, too. Words of many sentences, and the terms of schedviz, are explained in labels only. */
  inSentences: boolean;
}

/** A term in a text: from `start` to before `end`. */
export interface Found {
  term: Term;
  start: number;
  end: number;
}

/** Longer labels are sentences. */
const MAX_LABEL_LENGTH = 48;
/** A number at the end of a label: `activeQ 9`. */
const COUNT = /[\s\d,.:·()]+$/;
const WORD = /[\p{L}\p{N}]/u;

export class Glossary {
  private readonly byName = new Map<string, Term>();
  private readonly inSentences: [string, Term][];

  constructor(terms: readonly Term[]) {
    for (const term of terms) for (const name of term.names) this.byName.set(name, term);
    // `taint` is not looked for in `untainted`, and longer names go first.
    this.inSentences = [...this.byName].filter(([, term]) => term.inSentences).sort(([a], [b]) => b.length - a.length);
  }

  /** The term that a label names, such as `activeQ 9`, `Scheduling queue` or `informers`. */
  ofLabel(label: string): Term | null {
    const name = label.trim().replace(COUNT, "");
    if (!name || name.length > MAX_LABEL_LENGTH) return null;
    const spellings = [name, name[0]!.toLowerCase() + name.slice(1)];
    for (const spelling of [...spellings, ...spellings.map((plural) => plural.replace(/s$/, ""))]) {
      const term = this.byName.get(spelling);
      if (term) return term;
    }
    return null;
  }

  /** The term at an offset of a sentence. */
  at(text: string, offset: number): Found | null {
    for (const [name, term] of this.inSentences) {
      for (let start = text.indexOf(name, Math.max(0, offset - name.length)); start >= 0 && start <= offset; start = text.indexOf(name, start + 1)) {
        const end = start + name.length;
        if (offset <= end && isWhole(text, start, end)) return { term, start, end };
      }
    }
    return null;
  }
}

/** Whether a name is not a part of a longer word. Chinese has no spaces between words. */
function isWhole(text: string, start: number, end: number): boolean {
  const isLatin = (letter: string | undefined): boolean => letter !== undefined && WORD.test(letter) && letter < "\u3000";
  return !(isLatin(text[start]) && (isLatin(text[start - 1]) || text[start - 1] === "-" || text[start - 1] === "/")) && !(isLatin(text[end - 1]) && (isLatin(text[end]) || text[end] === "/"));
}
