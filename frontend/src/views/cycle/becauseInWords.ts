/** Why the winner of a cycle has more points than the next best node, in words. */
import "../../i18n/because";
import { t, type MessageKey } from "../../i18n/translate";
import { marginOf } from "../../model/cycleStages";
import type { CycleView, View } from "../../model/generated";

/** The end of a sentence: `, mainly because …`; "." if no plugin gave the winner more points. `config`: the scheduler's configuration. */
export function becauseInWords(cycle: CycleView, config: View["config"]): string {
  const { plugin = "" } = marginOf(cycle) ?? {};
  if (!plugin) return ".";
  const key = `because.${plugin === "NodeResourcesFit" ? strategyOf(config, cycle.profile) : plugin}`;
  const reason = t(key as MessageKey, { node: cycle.node ?? "" });
  // Of a plugin of the user's own, or of several.
  if (reason === key) return t("because.of", { plugins: plugin });
  const [mine, theirs] = [cycle.winner, cycle.runnerUp].map((scored) => scored?.scores.find((score) => score.plugin === plugin)?.weighted ?? 0);
  const scores = t("because.scores", { plugin, mine: mine ?? 0, theirs: theirs ?? 0 });
  return t("because", { reason, scores });
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
