import { forkSession } from "../api/forks";
import { pageOf } from "../api/client";
import { t } from "../i18n/translate";
import { newKey } from "../model/newKey";
import { searchOf } from "../model/permalink";
import { printCount } from "../model/quantity";
import type { Scope } from "./scope.svelte";

/** Takes the page from a session to a fork of it. One at a time. */
export class Forking {
  busy = $state(false);

  constructor(private readonly scope: Scope) {}

  /** A fork at the moment that is shown. `undo`: it is gone on with in place of this session, and has its name. */
  async go({ undo }: { undo: boolean }): Promise<void> {
    const { scope } = this;
    if (this.busy || !scope.state) return;
    if (undo && !scope.inThePast) {
      scope.notices.tell("info", t("fork.nothing"));
      return;
    }
    this.busy = true;
    const at = scope.event;
    scope.notices.tell("info", t(undo ? "fork.undoing" : "fork.forking", { event: printCount(at) }));
    try {
      const fork = await forkSession(scope.id, { at, key: newKey(), ...(undo && scope.session.name ? { name: scope.session.name } : {}) });
      const { select, tab } = scope.place;
      location.assign(pageOf(fork.id) + searchOf({ ...(select ? { select } : {}), ...(tab ? { tab } : {}) }));
    } catch (error) {
      scope.notices.tellOf(error);
    } finally {
      this.busy = false;
    }
  }
}

/** Where the page is compared with what it was forked from, else with one that is chosen there. */
export function compareAddress(scope: Scope): string {
  const here = scope.inThePast ? `${scope.id}@${scope.event}` : scope.id;
  const from = scope.summary.forkedFrom?.id;
  return from ? `/compare/?a=${from}&b=${here}` : `/compare/?a=${here}`;
}
