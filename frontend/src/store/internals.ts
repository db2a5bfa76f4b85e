import { t } from "../i18n/translate";
import { preferences } from "./preferences.svelte";
import type { SessionStore } from "./sessionStore.svelte";

/** Show all details, or fewer. The choice lasts, so the page says it: other sessions open with all details, too. */
export function toggleInternals(store: SessionStore): void {
  preferences.toggleInternals();
  if (preferences.internals) store.notices.show("info", t("internals.kept"));
}
