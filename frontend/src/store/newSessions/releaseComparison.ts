import { ApiError } from "../../api/call";
import { runCommand } from "../../api/commands";
import { forkSession, whenReady } from "../../api/forks";
import "../../i18n/v136";
import { t } from "../../i18n/translate";
import { idempotencyKey } from "../../model/idempotencyKey";
import { printCount } from "../../model/text/quantity";
import { otherRelease } from "../../model/sessions/releases";
import type { SessionStore } from "../session/sessionStore.svelte";

const MAX_CYCLES = 20_000;

/**
 * Runs both releases of kube-scheduler from the shown moment, each on a fork, until nothing is left to schedule, and opens the comparison.
 * The session itself does not change. Both are forks, so that they differ in nothing else than the release: the scheduler of another
 * release starts with the objects of the moment and tries all pending pods, so the one of this release restarts there.
 */
export async function compareReleases(store: SessionStore): Promise<void> {
  if (!store.state) return;
  const at = store.event;
  const release = store.summary.release;
  const other = otherRelease(release);
  const { signal } = new AbortController();
  store.notices.show("info", t("fork.comparing", { event: printCount(at), here: release, other }));
  try {
    const [same, changed] = await Promise.all(["", other].map((changed) => forkAndRun(store.id, at, changed, signal)));
    location.assign(`/compare/?a=${same}&b=${changed}`);
  } catch (error) {
    store.notices.showError(error);
  }
}

/** `release`: "": that of the session. */
async function forkAndRun(session: string, at: number, release: string, signal: AbortSignal): Promise<string> {
  const fork = await forkSession(session, { at, key: idempotencyKey(), ...(release ? { release } : {}) });
  const made = await whenReady(fork.id, signal);
  if (made.status === "failed") throw new ApiError(409, made.message ?? "");
  if (!release) await runCommand(fork.id, { op: "restart" }, signal);
  await runCommand(fork.id, { op: "run", max: MAX_CYCLES }, signal);
  return fork.id;
}
