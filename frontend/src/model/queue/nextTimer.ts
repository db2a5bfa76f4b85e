/** What happens next on its own when there is nothing to schedule. */
export interface NextTimer {
  /** What ends, in the engine's words. */
  what: string;
  /** Virtual seconds until then; 0: it is due. */
  seconds: number;
  /** Pods that have waited for long are tried again, whatever changes in the cluster. */
  isFlush: boolean;
}

const SENTENCE = /^activeQ is empty; the next timer is (.*?)(?: in ([\d.e+-]+) s|, which has ended): advance to it$/;
const FLUSH = "the flush of a pod that has been in unschedulablePods for long";
/** Older sessions say "of the cluster". */
const ONLY_IDLE =
  /^activeQ is empty(?:; \d+ pods? (?:is|are) waiting in unschedulablePods for a change (?:in|of) the cluster)?(?:; \d+ pods? (?:is|are) gated until the PreEnqueue plugins admit (?:it|them))?$/;

/** The timer that the result of a command names (schedviz/engine/reporting/idle.py); null: it names none. */
export function nextTimerIn(result: string): NextTimer | null {
  const [, what, seconds = "0"] = SENTENCE.exec(result) ?? [];
  return what === undefined ? null : { what, seconds: Number(seconds), isFlush: what === FLUSH };
}

/** Whether a result says only that nothing can be scheduled, which the narration says, too. */
export function isOnlyIdle(result: string): boolean {
  return ONLY_IDLE.test(result);
}
