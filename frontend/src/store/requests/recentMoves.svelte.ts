import { getEvents, getEventsAfter } from "../../api/moments";
import { getHistory } from "../../api/history";
import type { AnyEvent } from "../../model/generated";
import { MoveReader, type MoveLine } from "../../model/queue/queueMoves";
import type { Change } from "../session/picture.svelte";

const MAX_MOVES = 200;
/** How many past events are read after the moment has jumped: most events move no pod between queues. */
export const RECALLED_EVENTS = 400;
/** The number of past moves of one pod that are read, each with a request of its own. */
const MAX_MOVES_OF_POD = 12;
/** The newest entries of a pod's history that are searched for moves. */
const MAX_ENTRIES = 200;
const SETTLED_MILLIS = 200;

/** The last moves between the queues before the shown moment, newest first: of all pods, or of one. */
export class RecentMoves {
  lines = $state.raw<readonly MoveLine[]>([]);

  private known: readonly MoveLine[] = [];
  private reader = new MoveReader();
  private at = -1;
  private pod: string | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private request: AbortController | null = null;

  constructor(private readonly session: string) {}

  /** Only moves of this pod; null: of all pods. */
  choose(pod: string | null): void {
    if (pod === this.pod) return;
    this.pod = pod;
    if (this.at >= 0) this.recall(this.at);
    this.show();
  }

  /** Update to the moment after `event`. */
  follow(change: Change, event: number): void {
    if (event === this.at) return;
    const forward = !change.whole && !change.back && this.at >= 0 && change.events[change.events.length - 1]?.event === event;
    this.at = event;
    if (forward) this.take(change.events);
    else if (!change.whole && change.back) this.known = this.known.filter((line) => line.event <= event);
    else this.recall(event);
  }

  /** Publish the moves that are known. */
  show(): void {
    this.lines = this.known;
  }

  close(): void {
    clearTimeout(this.timer);
    this.request?.abort();
  }

  private take(events: readonly AnyEvent[]): void {
    const fresh = this.reader.linesOf(events, this.pod);
    if (fresh.length) this.known = [...fresh.reverse(), ...this.known].slice(0, MAX_MOVES);
  }

  private recall(event: number): void {
    clearTimeout(this.timer);
    this.request?.abort();
    const abort = new AbortController();
    this.request = abort;
    this.known = [];
    this.reader = new MoveReader();
    if (event < 1) return;
    const { pod } = this;
    this.timer = setTimeout(
      () => {
        this.eventsBefore(event, pod, abort.signal).then(
          (events) => {
            if (abort.signal.aborted) return;
            const earlier = new MoveReader().linesOf(events.filter((candidate) => candidate.event <= event), pod);
            const oldest = this.known[this.known.length - 1]?.event ?? Infinity;
            this.known = [...this.known, ...earlier.reverse().filter((line) => line.event < oldest)].slice(0, MAX_MOVES);
            this.show();
          },
          () => undefined, // New moves are shown in any case.
        );
      },
      pod === null ? SETTLED_MILLIS : 0,
    );
  }

  /** The last events that may have moved a pod. Those of one pod can be far apart, so its history names them. */
  private async eventsBefore(event: number, pod: string | null, signal: AbortSignal): Promise<AnyEvent[]> {
    const last = getEventsAfter(this.session, Math.max(0, event - RECALLED_EVENTS), RECALLED_EVENTS, signal);
    if (pod === null) return last;
    const [recent, history] = await Promise.all([last, getHistory(this.session, { kind: "pod", name: pod }, { tail: MAX_ENTRIES, at: event }, signal)]);
    const moves = history.results.filter(({ t, event: number }, i, all) => t === "queueMoved" && number !== all[i + 1]?.event).slice(-MAX_MOVES_OF_POD);
    const before = moves.filter((entry) => entry.event < (recent[0]?.event ?? Infinity));
    // v1.36 records what hints answered right before a move.
    const pages = await Promise.all(before.map((entry) => getEvents(this.session, { after: Math.max(0, entry.event - 2), limit: 2 }, signal)));
    return [...pages.flatMap(({ events }) => events), ...recent];
  }
}
