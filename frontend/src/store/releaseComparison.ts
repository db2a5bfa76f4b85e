import { ApiError } from "../api/call";
import { runCommand } from "../api/commands";
import { forkSession, whenReady } from "../api/forks";
import "../i18n/v136";
import { t } from "../i18n/translate";
import { idempotencyKey } from "../model/idempotencyKey";
import { printCount } from "../model/quantity";
import { otherRelease } from "../model/releases";
import type { SessionStore } from "./sessionStore.svelte";

const MAX_CYCLES = 20_000;

/**
 * Runs both releases of kube-scheduler from the shown moment, each on a fork, until nothing is left to schedule, and opens the comparison.
 * The session itself does not change. Both are forks, so that they differ in nothing else than the release.
 */
export async function compareReleases(store: SessionStore): Promise<void> {
  if (!store.state) return;
  const at = store.event;
  const release = store.summary.release;
  const other = otherRelease(release);
  const { signal } = new AbortController();
  store.notices.show("info", t("fork.comparing", { event: printCount(at), here: release, other }));
  try {
    const [same, changed] = await Promise.all([{}, { release: other }].map((options) => forkAndRun(store.id, at, options, signal)));
    location.assign(`/compare/?a=${same}&b=${changed}`);
  } catch (error) {
    store.notices.showError(error);
  }
}

async function forkAndRun(session: string, at: number, options: { release?: string }, signal: AbortSignal): Promise<string> {
  const fork = await forkSession(session, { at, key: idempotencyKey(), ...options });
  const made = await whenReady(fork.id, signal);
  if (made.status === "failed") throw new ApiError(409, made.message ?? "");
  await runCommand(fork.id, { op: "run", max: MAX_CYCLES }, signal);
  return fork.id;
}
