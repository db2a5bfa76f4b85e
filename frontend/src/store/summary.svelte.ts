import type { Follows } from "../api/agreement";
import { getSession, type SessionSummary } from "../api/client";
import type { ForkedFrom } from "../api/forks";
import type { ImportReport } from "../wire/messages";

/** What REST tells of a session and its line does not. All of it is empty until it was told. */
export class Summary {
  /** What the import took and left out. */
  report = $state.raw<ImportReport | null>(null);
  /** The session that this one goes another way from. */
  forkedFrom = $state.raw<ForkedFrom | null>(null);
  /** The real cluster that it shadows, or that the session shadows which it was forked from. */
  follows = $state.raw<Follows | null>(null);
  /** The simulated release of kube-scheduler; "": it was not told yet. */
  release = $state("");
  /** The feature gates that differ from the release's defaults. */
  featureGates = $state.raw<Record<string, boolean>>({});
  /** What the person is to the session. */
  role = $state<SessionSummary["role"]>();

  constructor(private readonly id: string) {}

  /** Ask, where it is not known yet. */
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
      () => undefined, // The page is whole without it.
    );
  }
}
