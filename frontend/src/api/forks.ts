import { call } from "./call";
import { getSession, type SessionSummary } from "./client";

/** What a fork was forked from; `id` is null once that was deleted. */
export interface ForkedFrom {
  id: string | null;
  name: string;
  event: number;
}

/** A session that continues from the moment after an event, with `release` on that kube-scheduler. The same key gives the same fork. Its status is `importing` until it is ready. */
export function forkSession(id: string, fork: { at: number; name?: string; release?: string; key: string }): Promise<SessionSummary> {
  return call("POST", `sessions/${id}/branches/`, { body: fork });
}

export function listForks(id: string): Promise<{ results: SessionSummary[] }> {
  return call("GET", `sessions/${id}/branches/`);
}

const LOOK_MILLIS = 300;

/** The session, once it is no longer being made; `told` hears of how far it is. Throws an AbortError where the signal says so. */
export async function whenMade(id: string, signal: AbortSignal, told: (session: SessionSummary) => void = () => undefined): Promise<SessionSummary> {
  for (;;) {
    signal.throwIfAborted();
    const session = await getSession(id);
    told(session);
    if (session.status !== "importing") return session;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MILLIS));
  }
}
