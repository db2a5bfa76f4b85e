/** What each Score plugin of kube-scheduler prefers, loaded with the first table of scores. */
import scoring from "./messages/en.scoring.json";
import { addEnglish, t, type MessageKey } from "./translate";

addEnglish(scoring);

/** What the plugin gives points for; undefined: it is not one of kube-scheduler's. */
export function scoringInWords(plugin: string): string | undefined {
  return `scoring.${plugin}` in scoring ? t(`scoring.${plugin}` as MessageKey) : undefined;
}
