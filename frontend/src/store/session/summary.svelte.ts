import type { Follows } from "../../api/agreement";
import { getSession, type ForkedFrom, type SessionSummary } from "../../api/client";
import type { ImportReport } from "../../api/importReport";

/** Details of a session that REST has and the WebSocket does not. All of it is empty until it is loaded. */
export class Summary {
  /** What the import read and skipped. */
  report = $state.raw<ImportReport | null>(null);
  /** The session that this one was forked from. */
  forkedFrom = $state.raw<ForkedFrom | null>(null);
  /** The real cluster that this session follows, or that the session it was forked from follows. */
  follows = $state.raw<Follows | null>(null);
  /** The simulated release of kube-scheduler; "": not loaded yet. */
  release = $state("");
  /** The feature gates that differ from the release's defaults. */
  featureGates = $state.raw<Record<string, boolean>>({});
  /** The user's role in the session. */
  role = $state<SessionSummary["role"]>();

  constructor(private readonly id: string) {}

  /** Load the details once. */
  ask(): void {
    if (this.report !== null) return;
    getSession(this.id).then(
      (session) => {
        this.report = session.report ?? null;
        this.release = session.release ?? "";
        this.featureGates = session.featureGates ?? {};
        this.role = session.role;
        this.forkedFrom = session.forkedFrom ?? null;
        this.follows = session.follows ?? null;
      },
      () => undefined, // The page works without it.
    );
  }
}
