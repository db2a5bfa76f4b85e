import { addBreakpoint, deleteBreakpoint } from "../../api/breakpoints";
import { ApiError } from "../../api/call";
import { runCommand } from "../../api/commands";
import { deleteSession } from "../../api/client";
import { forkSession, whenReady } from "../../api/forks";
import { getCycles, type CycleSummary } from "../../api/moments";
import { failureOf } from "../../i18n/failure";
import type { AnyCommand } from "../../model/generated";
import { idempotencyKey } from "../../model/idempotencyKey";

export const TRIAL_STEPS = ["forking", "changing", "scheduling"] as const;
export type TrialStep = (typeof TRIAL_STEPS)[number];

/** How many times the clock is advanced to the next timer for a pod that waits in backoffQ or unschedulablePods. */
const MAX_WAITS = 20;
const MAX_CYCLES = 20_000;

/** A change that is tried: the session is forked, the change is made on the fork, and the fork runs until the pod has been tried again. */
export class Trial {
  /** What is being done; null: it has ended. */
  step = $state<TrialStep | null>(null);
  error = $state("");
  fork = $state.raw<{ id: string; name: string } | null>(null);
  /** The cycle in which the pod was tried on the fork; null: it was not. */
  cycle = $state.raw<CycleSummary | null>(null);
  /** How many other pods were tried on the fork before it. */
  before = $state(0);
  private readonly closing = new AbortController();

  constructor(
    private readonly session: string,
    private readonly pod: string,
  ) {}

  get ended(): boolean {
    return this.step === null;
  }

  /** Try the commands from the moment after an event. The result is in `cycle`, or in `error`. */
  async run(at: number, name: string, commands: readonly AnyCommand[]): Promise<void> {
    const { signal } = this.closing;
    try {
      this.step = "forking";
      const fork = await forkSession(this.session, { at, name, key: idempotencyKey() });
      this.fork = { id: fork.id, name: fork.name };
      const made = await whenReady(fork.id, signal);
      if (made.status === "failed") throw new ApiError(409, made.message ?? "");
      this.step = "changing";
      for (const command of commands) await runCommand(fork.id, command, signal);
      this.step = "scheduling";
      this.cycle = await this.tryPod(fork.id);
      this.before = this.cycle ? Math.max(0, this.cycle.cycle - (made.cycle ?? 0) - 1) : 0;
    } catch (error) {
      if (!signal.aborted) this.error = failureOf(error);
    } finally {
      this.step = null;
    }
  }

  /** Cancel, and delete the fork. */
  cancel(): void {
    this.closing.abort();
    if (this.fork) void deleteSession(this.fork.id).catch(() => undefined);
    this.fork = null;
  }

  /** Run, and advance the clock while no pod can be popped, until a cycle was for the pod. */
  private async tryPod(fork: string): Promise<CycleSummary | null> {
    const { signal } = this.closing;
    const popped = await addBreakpoint(fork, `popped "${this.pod}"`);
    try {
      for (let waits = 0; waits <= MAX_WAITS; waits++) {
        const ran = await runCommand(fork, { op: "run", max: MAX_CYCLES }, signal);
        if (ran.stopped === "breakpoint") {
          const cycle = await this.lastCycle(fork);
          // This leaves the breakpoint, and the binding continues.
          await runCommand(fork, { op: "advance", seconds: 0 }, signal);
          return cycle;
        }
        const waited = await runCommand(fork, { op: "advance", to: "next" }, signal);
        if (waited.result) return null;
      }
      return null;
    } finally {
      await deleteBreakpoint(fork, popped.number).catch(() => undefined);
    }
  }

  private async lastCycle(fork: string): Promise<CycleSummary | null> {
    const { results } = await getCycles(fork, { tail: true });
    return results.find(({ pod }) => pod === this.pod) ?? null;
  }
}
