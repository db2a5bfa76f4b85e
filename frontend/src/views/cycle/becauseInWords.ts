/** Why the winner of a cycle has more points than the next best node, in words. */
import "../../i18n/because";
import { t, type MessageKey } from "../../i18n/translate";
import { marginOf } from "../../model/cycle/cycleStages";
import type { CycleView, View } from "../../model/generated";

/**
 * The end of a sentence: `, because …`, or `, mainly because …` if other plugins changed the difference, too; "." if no plugin gave the winner more
 * points. `config`: the scheduler's configuration.
 */
export function becauseInWords(cycle: CycleView, config: View["config"]): string {
  const plugins = (marginOf(cycle)?.plugin ?? "").split(", ").filter(Boolean);
  if (!plugins.length) return ".";
  const scoreOf = (scored: CycleView["winner"], plugin: string): number => scored?.scores.find((score) => score.plugin === plugin)?.weighted ?? 0;
  const reasons = plugins.map((plugin) => {
    const key = `because.${plugin === "NodeResourcesFit" ? strategyOf(config, cycle.profile) : plugin}`;
    const reason = t(key as MessageKey, { node: cycle.node ?? "" });
    const scores = t("because.scores", { plugin, mine: scoreOf(cycle.winner, plugin), theirs: scoreOf(cycle.runnerUp, plugin) });
    return reason === key ? null : t("because.reason", { reason, scores });
  });
  const others = (cycle.winner?.scores ?? []).filter(({ plugin }) => !plugins.includes(plugin));
  const isAlone = others.every(({ plugin, weighted }) => weighted === scoreOf(cycle.runnerUp, plugin));
  // Of a plugin of the user's own.
  if (reasons.includes(null)) return t(isAlone ? "because.of.only" : "because.of", { plugins: plugins.join(", ") });
  return t(isAlone ? "because.only" : "because", { reasons: reasons.join(t("because.and")) });
}

interface Configuration {
  profiles?: { schedulerName?: string; pluginConfig?: { name: string; args?: { scoringStrategy?: { type?: string } } }[] }[];
}

/** The scoring strategy of NodeResourcesFit. Upstream: apis/config/v1/defaults.go SetDefaults_NodeResourcesFitArgs */
function strategyOf(config: View["config"], profile = "default-scheduler"): string {
  const { profiles = [] } = (config ?? {}) as Configuration;
  const { pluginConfig = [] } = profiles.find(({ schedulerName = "default-scheduler" }) => schedulerName === profile) ?? {};
  return pluginConfig.find(({ name }) => name === "NodeResourcesFit")?.args?.scoringStrategy?.type ?? "LeastAllocated";
}
