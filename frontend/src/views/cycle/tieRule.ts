import { t } from "../../i18n/translate";

/** How a release of kube-scheduler chooses among nodes with the highest total: what follows the number of tied nodes. */
export function tieRule(release: string | undefined): string {
  return t(release === "v1.36" ? "verdict.tied.heap" : "verdict.tied.rule");
}
