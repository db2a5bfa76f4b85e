/** A choice in sentences: those of schedviz/experiments/summary.py, in the language of the page. */
import { t } from "../../i18n/translate";
import { certainty, isEqual, type Certainty, type Choice } from "../../model/experiments/choice";
import type { Figures } from "../../model/experiments/figures";
import { heading, label, printDifference, printValue } from "../../model/experiments/text";

export interface ChoiceText {
  headline: string;
  /** What is better, what is the same, what it costs. */
  reasons: string[];
  level: Certainty["level"] | "even" | "equal";
  levelName: string;
  certainty: string[];
  /** Why not the other variants. */
  others: string[];
}

const MOST_COSTS = 4;
/** Of many, those that were dropped last: they were the nearest. */
const MOST_OTHERS = 6;
/** With more variants than this, some differences lie beyond their margins by chance alone. */
const MANY = 6;

export function choiceText(figures: Figures, choice: Choice): ChoiceText {
  const name = (variant: number): string => figures.results.variants[variant]!.name;
  const { variant, ties, isBaseline } = choice;
  const as = isBaseline ? "experiments.keep" : "experiments.choose";
  const headline = [t(as, { variant: name(variant) })];
  if (ties.length) headline.push(t(isBaseline ? "experiments.keep.ties" : "experiments.choose.ties", { variants: listed(ties.map(name)) }));
  const decided = choice.gains[0];
  const found = decided === undefined ? null : certainty(figures, variant, figures.baseline, decided);
  const isSame = isBaseline && ties.length > 0 && !choice.dropped.length && ties.every((other) => isEqual(figures, other, choice.goals));
  const level = found?.level ?? (isSame ? "equal" : "even");
  return {
    headline: headline.join(" "),
    reasons: isBaseline ? keepReasons(figures, choice) : reasons(figures, choice),
    level,
    levelName: t(`experiments.level.${level}`),
    certainty: sentences(figures, choice, found, isSame),
    others: choice.dropped.filter(({ variant: other }) => other !== figures.baseline).slice(-MOST_OTHERS).map(({ variant: other, column, best, difference }) =>
      t("experiments.dropped", {
        variant: name(other),
        best: name(best),
        measure: label(figures.column(column)),
        difference: printDifference(difference, figures.column(column).unit),
      }),
    ),
  };
}

function reasons(figures: Figures, choice: Choice): string[] {
  const { variant, goals, gains, costs } = choice;
  const baseline = figures.results.variants[figures.baseline]!.name;
  const values = (column: number): { measure: string; value: string; other: string; difference: string; baseline: string } => {
    const { unit } = figures.column(column);
    const difference = figures.between(variant, figures.baseline, column);
    return {
      measure: heading(figures.column(column)),
      value: printValue(figures.value(variant, column)?.mean ?? 0, unit),
      other: printValue(figures.value(figures.baseline, column)?.mean ?? 0, unit),
      difference: difference ? printDifference(difference, unit) : "–",
      baseline,
    };
  };
  const found = gains.map((column) => {
    const { agreeing, seeds } = certainty(figures, variant, figures.baseline, column);
    return t(seeds > 1 ? "experiments.gain.seeds" : "experiments.gain", { ...values(column), agreeing, seeds });
  });
  const deciding = goals.indexOf(gains[0] ?? -1);
  const even = goals.slice(0, Math.max(deciding, 0)).filter((column) => !costs.includes(column) && !figures.isNothing(column));
  found.push(...even.map((column) => t(isEqual(figures, variant, [column]) ? "experiments.equal" : "experiments.even", values(column))));
  if (costs.length) {
    const parts = costs.slice(0, MOST_COSTS).map((column) => `${label(figures.column(column))} ${values(column).difference}`);
    found.push(t("experiments.costs", { costs: parts.join("; ") }));
  }
  return found;
}

function keepReasons(figures: Figures, { ties, goals }: Choice): string[] {
  const { moves, variants } = figures.results;
  const seeds = figures.seeds.length;
  const found = [t(seeds > 1 ? "experiments.noneBetter.seeds" : "experiments.noneBetter", { seeds })];
  if (ties.length) {
    found.push(
      ...goals.filter((column) => !figures.isNothing(column)).map((column) =>
        t(ties.every((other) => isEqual(figures, other, [column])) ? "experiments.equal" : "experiments.same", { measure: heading(figures.column(column)), value: printValue(figures.value(figures.baseline, column)?.mean ?? 0, figures.column(column).unit) }),
      ),
    );
    const unmoved = ties.filter((other) => moves?.counts[other]?.[figures.baseline] === 0);
    if (unmoved.length) found.push(t("experiments.unmoved", { variants: listed(unmoved.map((other) => variants[other]!.name)) }));
  }
  return found;
}

function sentences(figures: Figures, choice: Choice, found: Certainty | null, isSame: boolean): string[] {
  const said = isSame
    ? t("experiments.sure.equal", { trials: figures.results.trials.numbers.length })
    : found
    ? t(`experiments.sure.${found.level === "none" ? "fair" : found.level}`, { agreeing: found.agreeing, seeds: found.seeds })
    : t(figures.seeds.length > 1 ? "experiments.sure.even" : "experiments.sure.evenOnce", { seeds: figures.seeds.length });
  const compared = choice.dropped.length + choice.ties.length;
  return [said, ...(compared >= MANY && figures.seeds.length > 1 ? [t("experiments.sure.many", { count: compared + 1 })] : []), t("experiments.scope")];
}

function listed(names: string[]): string {
  const MOST = 5;
  return names.length > MOST ? t("experiments.andMore", { names: names.slice(0, MOST).join(", "), count: names.length - MOST }) : names.join(", ");
}
