import { forkSession } from "../../api/forks";
import { pageOf } from "../../api/client";
import { t, type MessageKey } from "../../i18n/translate";
import { idempotencyKey } from "../../model/idempotencyKey";
import { printPermalink } from "../../model/permalink";
import { printCount } from "../../model/text/quantity";
import { otherRelease } from "../../model/sessions/releases";
import type { SessionStore } from "../session/sessionStore.svelte";

/** Forks a session and opens the fork. One fork at a time. */
export class Forking {
  busy = $state(false);

  constructor(private readonly store: SessionStore) {}

  /** Fork at the shown moment. */
  fork(): Promise<void> {
    return this.forkAs("fork.forking", {});
  }

  /** Fork to the other release of kube-scheduler, at the shown moment. */
  toOtherRelease(): Promise<void> {
    const release = otherRelease(this.store.summary.release);
    return this.forkAs("fork.changingRelease", { release });
  }

  /** Fork with the name of this session, to continue in its place. */
  async undo(): Promise<void> {
    const { session, playback, notices } = this.store;
    if (!playback.inThePast) notices.show("info", t("fork.nothing"));
    else await this.forkAs("fork.undoing", session.name ? { name: session.name } : {});
  }

  private async forkAs(progress: MessageKey, options: { name?: string; release?: string }): Promise<void> {
    const { store } = this;
    if (this.busy || !store.state) return;
    this.busy = true;
    const at = store.event;
    store.notices.show("info", t(progress, { event: printCount(at), release: options.release ?? "" }));
    try {
      const fork = await forkSession(store.id, { at, key: idempotencyKey(), ...options });
      const { select, tab } = store.permalink;
      location.assign(pageOf(fork.id) + printPermalink({ ...(select ? { select } : {}), ...(tab ? { tab } : {}) }));
    } catch (error) {
      store.notices.showError(error);
    } finally {
      this.busy = false;
    }
  }
}

/** The comparison with the session that this one was forked from, else with one that is chosen there. */
export function compareAddress(store: SessionStore): string {
  const shownMoment = store.playback.inThePast ? `${store.id}@${store.event}` : store.id;
  const from = store.summary.forkedFrom?.id;
  return from ? `/compare/?a=${from}&b=${shownMoment}` : `/compare/?a=${shownMoment}`;
}
