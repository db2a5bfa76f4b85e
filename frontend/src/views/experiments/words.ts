/** The words and measures of an experiment's answer, explained: those of schedviz/experiments/results/words.py, in the language of the page. */
import { t } from "../../i18n/translate";
import type { Figures } from "../../model/experiments/figures";
import { label } from "./measureNames";

export interface Word {
  word: string;
  meaning: string;
}

/** Each word with its meaning: the measures of these columns first. */
export function explained(figures: Figures, columns: readonly number[]): Word[] {
  const found = new Map<string, string>();
  for (const place of columns) {
    const { measure, title } = figures.column(place);
    if (!figures.isNothing(place) && !found.has(measure)) found.set(measure, `${title}.`);
  }
  const words = ["baseline"] as ("baseline" | "pp" | "seed" | "margin" | "chance")[];
  if (columns.some((place) => figures.column(place).unit === "share" && !figures.isNothing(place))) words.push("pp");
  if (figures.seeds.length > 1) words.push("seed", "margin", "chance");
  return [
    ...[...found].map(([measure, meaning]) => ({ word: label({ key: measure, measure }), meaning })),
    ...words.map((each) => ({ word: t(`experiments.word.${each}`), meaning: t(`experiments.meaning.${each}`) })),
  ];
}
