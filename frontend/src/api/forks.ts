import { call } from "./call";
import { getSession, type SessionSummary } from "./client";

/** Create a session that continues from the moment after an event, on kube-scheduler `release` if one is given. The same key returns the same fork. Its status is `importing` until it is ready. */
export function forkSession(id: string, fork: { at: number; name?: string; release?: string; key: string }): Promise<SessionSummary> {
  return call("POST", `sessions/${id}/branches/`, { body: fork });
}

export function listForks(id: string): Promise<{ results: SessionSummary[] }> {
  return call("GET", `sessions/${id}/branches/`);
}

const POLL_MILLIS = 300;

/** Wait until the session is ready; `onProgress` is called with its progress. Throws an AbortError if the signal aborts. */
export async function whenReady(id: string, signal: AbortSignal, onProgress: (session: SessionSummary) => void = () => undefined): Promise<SessionSummary> {
  for (;;) {
    signal.throwIfAborted();
    const session = await getSession(id);
    onProgress(session);
    if (session.status !== "importing") return session;
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS));
  }
}
