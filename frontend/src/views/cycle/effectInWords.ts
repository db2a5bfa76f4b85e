/** The effect of a Status in words, for its tooltip. */
import "../../i18n/outcomes";
import { t } from "../../i18n/translate";
import { effectOf, type SelectedStatus } from "../../model/cycle/statusPath";

export function effectInWords(status: SelectedStatus): string {
  return `${status.code}: ${t(`effect.${effectOf(status)}`)}`;
}
