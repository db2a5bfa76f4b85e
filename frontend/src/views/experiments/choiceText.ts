/** A choice in sentences: those of schedviz/experiments/results/summary.py, in the language of the page. */
import { t } from "../../i18n/translate";
import { certainty, isEqual, otherColumns, verdictBetween, type Alternative, type Certainty, type Choice } from "../../model/experiments/choice";
import type { Figures } from "../../model/experiments/figures";
import { printDifference, printValue } from "../../model/experiments/text";
import { clause } from "./clause";
import { heading, label } from "./measureNames";
import { explained, type Word } from "./words";

export interface ChoiceText {
  /** The variant to choose, what it gains, and what it costs. */
  headline: string;
  /** What is better, and what is the same. */
  reasons: string[];
  /** What becomes worse. Empty if the baseline is kept. */
  costs: string[];
  level: Level;
  levelName: string;
  certainty: string[];
  /** What to choose if another measure counts most. */
  alternatives: string[];
  /** Why not the other variants. */
  others: string[];
  /** The words and measures of the sentences. */
  words: Word[];
}

type Level = "exact" | "strong" | "fair" | "even" | "equal";

const MAX_COSTS = 4;
/** Variants that are as good, which the headline names. */
const MAX_TIES = 2;
/** Of many, those that were dropped last: they were the nearest. */
const MAX_OTHERS = 6;
/** Differences in the headline of variants that are equal in what decides. */
const MAX_HEADLINE = 2;
/** Variants as good as the baseline of which all differences are listed. */
const MAX_DIFFERING = 3;
/** With more variants than this, some differences lie beyond their margins by chance alone. */
const MANY = 6;

/** The words of a choice. `isUnended`: more trials follow, which can change it. */
export function choiceText(figures: Figures, choice: Choice, isUnended = false): ChoiceText {
  const { variant, isBaseline, gains } = choice;
  const decided = gains[0];
  const found = decided === undefined ? null : certainty(figures, variant, figures.baseline, decided);
  const once = figures.seeds.length > 1 ? "even" : "exact";
  const level = found ? (found.level === "none" ? "fair" : found.level) : isSame(figures, choice) ? "equal" : once;
  const answer = isBaseline ? headlineToKeep(figures, choice) : headline(figures, choice);
  return {
    headline: isUnended ? t("experiments.preliminaryAnswer", { answer }) : answer,
    reasons: isBaseline ? keepReasons(figures, choice) : reasons(figures, choice),
    costs: isBaseline ? [] : costs(figures, choice),
    level,
    levelName: t(`experiments.level.${level}`),
    certainty: sentences(figures, choice, found, level),
    alternatives: choice.alternatives.map((each) => alternative(figures, choice, each)),
    others: others(figures, choice),
    words: explained(figures, [...choice.goals, ...choice.costs, ...differing(figures, choice).flatMap(({ columns }) => columns)]),
  };
}

/** What a table says of the variant that is chosen. */
export function badgeOf(choice: Choice, isUnended: boolean): string {
  return t(isUnended ? "experiments.preliminary" : choice.isBaseline ? "experiments.kept" : "experiments.chosen");
}

function headline(figures: Figures, { variant, gains, costs: worse, ties }: Choice): string {
  const names = { variant: nameOf(figures, variant), baseline: nameOf(figures, figures.baseline) };
  const [gain, cost] = [gains[0], worse[0]].map((column) => (column === undefined ? "" : clauseOf(figures, variant, figures.baseline, column)));
  const said = !gain ? t("experiments.choose", names) : cost ? t("experiments.choose.costs", { ...names, gain, cost }) : t("experiments.choose.gain", { ...names, gain }); // prettier-ignore
  return said + tiesOf(figures, ties);
}

/** The variants that are as good, for the end of the headline: many are only counted, and named among the reasons. */
function tiesOf(figures: Figures, ties: readonly number[]): string {
  if (!ties.length) return "";
  return ` ${ties.length > MAX_TIES ? t("experiments.ties", { count: ties.length }) : t("experiments.ties.few", { variants: namesOf(figures, ties) })}`;
}

function manyTies(figures: Figures, ties: readonly number[]): string[] {
  return ties.length > MAX_TIES ? [t("experiments.ties.few", { variants: namesOf(figures, ties) })] : [];
}

function headlineToKeep(figures: Figures, choice: Choice): string {
  const { ties, alternatives } = choice;
  const baseline = nameOf(figures, figures.baseline);
  if (isSame(figures, choice)) {
    const kind = unmoved(figures, choice).length === ties.length ? "experiments.noDifference.unmoved" : "experiments.noDifference";
    const numbers = choice.goals
      .filter((column) => !figures.isNothing(column))
      .map((column) => `${label(figures.column(column))} ${valuesOf(figures, figures.baseline, column).value}`);
    const values = { variants: namesOf(figures, ties), baseline, numbers: listed(numbers) };
    const [but] = differing(figures, choice);
    if (!but) return t(kind, values);
    const differences = joined(but.columns.slice(0, MAX_HEADLINE).map((column) => clauseOf(figures, but.variant, figures.baseline, column)));
    return t(`${kind}.but`, { ...values, variant: nameOf(figures, but.variant), differences });
  }
  const trade = alternatives.find(({ cost }) => cost !== undefined);
  const said = trade
    ? t("experiments.keep.costs", {
        ...{ baseline, other: nameOf(figures, trade.variant) },
        gain: clauseOf(figures, trade.variant, figures.baseline, trade.gains[0]!),
        cost: clauseOf(figures, trade.variant, figures.baseline, trade.cost!),
      })
    : t("experiments.keep", { variant: baseline });
  return said + tiesOf(figures, ties);
}

function reasons(figures: Figures, { variant, goals, gains, costs: worse, ties }: Choice): string[] {
  const deciding = goals.indexOf(gains[0] ?? -1);
  const even = goals.slice(0, Math.max(deciding, 0)).filter((column) => !worse.includes(column) && !figures.isNothing(column));
  return [
    ...gains.map((column) => against(figures, variant, column, "experiments.gain")),
    ...even.map((column) => t(isEqual(figures, variant, [column]) ? equalKey(figures) : "experiments.even", valuesOf(figures, variant, column))),
    ...manyTies(figures, ties),
  ];
}

/** What equal variants have: seeds may differ from each other, and then the value is a mean. */
function equalKey({ seeds }: Figures): "experiments.equal" | "experiments.equal.seeds" {
  return seeds.length > 1 ? "experiments.equal.seeds" : "experiments.equal";
}

function costs(figures: Figures, { variant, costs: worse }: Choice): string[] {
  if (!worse.length) return [t("experiments.noCosts")];
  return worse.slice(0, MAX_COSTS).map((column) => against(figures, variant, column, "experiments.cost"));
}

function against(figures: Figures, variant: number, column: number, key: "experiments.gain" | "experiments.cost"): string {
  const { agreeing, seeds } = certainty(figures, variant, figures.baseline, column);
  return t(seeds > 1 ? `${key}.seeds` : "experiments.gain", { ...valuesOf(figures, variant, column), agreeing, seeds });
}

function valuesOf(figures: Figures, variant: number, column: number): Record<"measure" | "value" | "other" | "difference" | "baseline", string> {
  const { unit } = figures.column(column);
  return {
    measure: heading(figures.column(column)),
    value: printValue(figures.value(variant, column)?.mean ?? 0, unit),
    other: printValue(figures.value(figures.baseline, column)?.mean ?? 0, unit),
    difference: differenceOf(figures, variant, column),
    baseline: nameOf(figures, figures.baseline),
  };
}

function keepReasons(figures: Figures, choice: Choice): string[] {
  const { ties, goals } = choice;
  const seeds = figures.seeds.length;
  const found = [t(seeds > 1 ? "experiments.noneBetter.seeds" : "experiments.noneBetter", { seeds })];
  if (!ties.length) return found;
  found.push(
    ...goals.filter((column) => !figures.isNothing(column)).map((column) =>
      t(ties.every((other) => isEqual(figures, other, [column])) ? equalKey(figures) : "experiments.same", { measure: heading(figures.column(column)), value: printValue(figures.value(figures.baseline, column)?.mean ?? 0, figures.column(column).unit) }),
    ),
  );
  found.push(...manyTies(figures, ties));
  const still = unmoved(figures, choice);
  if (still.length) found.push(t("experiments.unmoved", { variants: namesOf(figures, still) }));
  for (const { variant, columns } of differing(figures, choice)) {
    const differences = columns.map((column) => `${label(figures.column(column))} ${differenceOf(figures, variant, column)}`).join("; ");
    found.push(t("experiments.differing", { variant: nameOf(figures, variant), baseline: nameOf(figures, figures.baseline), differences }));
  }
  return found;
}

/** The variants that are as good as the baseline, with the columns in which they differ from it beyond chance: one of each measure. */
function differing(figures: Figures, { isBaseline, ties, goals }: Choice): { variant: number; columns: number[] }[] {
  if (!isBaseline) return [];
  return ties.slice(0, MAX_DIFFERING).flatMap((variant) => {
    const found = otherColumns(figures, goals).filter((column) => verdictBetween(figures, variant, figures.baseline, column));
    const measures = found.map((column) => figures.column(column).measure);
    const columns = found.filter((_, place) => measures.indexOf(measures[place]!) === place).slice(0, MAX_COSTS);
    return columns.length ? { variant, columns } : [];
  });
}

/** Whether all variants have the same numbers in the columns that decide. */
function isSame(figures: Figures, { isBaseline, ties, dropped, goals }: Choice): boolean {
  return isBaseline && ties.length > 0 && !dropped.length && ties.every((other) => isEqual(figures, other, goals));
}

/** The variants that put every pod on the same node as the baseline. */
function unmoved({ results, baseline }: Figures, { ties }: Choice): number[] {
  return ties.filter((other) => results.moves?.counts[other]?.[baseline] === 0);
}

function sentences(figures: Figures, choice: Choice, found: Certainty | null, level: Level): string[] {
  const key = level === "equal" && figures.seeds.length === 1 ? "experiments.sure.equal.once" : (`experiments.sure.${level}` as const);
  const [decided] = choice.gains;
  const measure = decided === undefined ? "" : label(figures.column(decided));
  const said = t(key, { measure, agreeing: found?.agreeing ?? 0, seeds: found?.seeds ?? figures.seeds.length });
  const compared = choice.dropped.length + choice.ties.length;
  return [said, ...(compared >= MANY && figures.seeds.length > 1 ? [t("experiments.sure.many", { count: compared + 1 })] : []), t("experiments.scope")];
}

function alternative(figures: Figures, { variant: chosen }: Choice, { variant, gains, cost }: Alternative): string {
  const values = {
    ...{ variant: nameOf(figures, variant), chosen: nameOf(figures, chosen) },
    measures: joined(gains.map((column) => label(figures.column(column))), "experiments.and.measures"),
    gains: joined(gains.map((column) => clauseOf(figures, variant, chosen, column))),
  };
  const key = gains.length === 1 ? "experiments.alternative.one" : "experiments.alternative.other";
  return cost === undefined ? t(key, values) : t(`${key}.cost`, { ...values, cost: clauseOf(figures, variant, chosen, cost) });
}

function others(figures: Figures, { dropped }: Choice): string[] {
  return dropped.filter(({ variant }) => variant !== figures.baseline).slice(-MAX_OTHERS).map(({ variant, column, best, difference }) =>
    t("experiments.dropped", {
      ...{ variant: nameOf(figures, variant), best: nameOf(figures, best) },
      measure: label(figures.column(column)),
      difference: printDifference(difference, figures.column(column).unit),
    }),
  );
}

function differenceOf(figures: Figures, variant: number, column: number): string {
  const difference = figures.between(variant, figures.baseline, column);
  return difference ? printDifference(difference, figures.column(column).unit) : "–";
}

function clauseOf(figures: Figures, a: number, b: number, column: number): string {
  return clause(figures.column(column), figures.between(a, b, column)?.mean ?? 0);
}

function nameOf(figures: Figures, variant: number): string {
  return figures.results.variants[variant]!.name;
}

function namesOf(figures: Figures, variants: readonly number[]): string {
  return listed(variants.map((variant) => nameOf(figures, variant)));
}

/** Some names. Variants of a grid have commas in theirs. */
function listed(names: readonly string[]): string {
  const MAX_NAMES = 5;
  const separator = names.some((name) => name.includes(",")) ? "; " : t("experiments.comma");
  return names.length > MAX_NAMES ? t("experiments.andMore", { names: names.slice(0, MAX_NAMES).join(separator), count: names.length - MAX_NAMES }) : names.join(separator);
}

function joined(parts: readonly string[], key: "experiments.and" | "experiments.and.measures" = "experiments.and"): string {
  return parts.length > 1 ? t(key, { parts: parts.slice(0, -1).join(t("experiments.comma")), last: parts.at(-1)! }) : (parts[0] ?? "");
}
