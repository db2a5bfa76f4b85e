import { ApiError, getEvents, getSession, postCommand } from "../api/client";
import { t } from "../i18n/translate";
import { fold } from "../model/fold";
import type { AnyCommand, AnyEvent, View } from "../model/generated";
import { History } from "../model/history";
import { NO_NAMES } from "../model/names";
import { isSilent, revealed, type Unit } from "../model/reveal";
import { State } from "../model/state";
import type { ImportReport, ServerMessage, SessionInfo } from "../wire/messages";
import { SessionSocket, type LinkState } from "../wire/socket";

export interface Selection {
  kind: "pod" | "node";
  name: string;
}

export interface Notice {
  id: number;
  tone: "error" | "info";
  text: string;
}

const NOTICE_MILLIS = 8_000;
/** How many events before the first that was seen are asked for. */
const RECALLED = 600;

/**
 * One session as its page sees it. The model is plain data outside of Svelte; `version` goes up, at most once in a microtask, when it
 * has changed, and everything that draws reads it first.
 */
export class Scope {
  /** The moment that is shown. Not reactive: read `version` before it. */
  state: State | null = null;
  readonly history = new History();

  version = $state(0);
  link = $state<LinkState>("connecting");
  roundTripMillis = $state<number | null>(null);
  session = $state.raw<SessionInfo>({});
  /** What the import took and left out; null: not told yet. */
  report = $state.raw<ImportReport | null>(null);
  /** True: new events are shown as they come. False: they wait, and are counted. */
  following = $state(true);
  waitingCount = $state(0);
  /** The last event that the server has told of. */
  headEvent = $state(0);
  unit = $state<Unit>("cycle");
  /** Cycles a second while playing; null: as fast as the worker can. */
  rate = $state<number | null>(2);
  selection = $state.raw<Selection | null>(null);
  hovered = $state.raw<Selection | null>(null);
  drawerOpen = $state(false);
  /** Nodes that something on the page speaks of while it is pointed at. */
  lit = $state.raw(NO_NAMES);
  /** What changed the picture last. Not reactive: read `version` before it. */
  lastEvent: AnyEvent | null = null;
  notices = $state.raw<Notice[]>([]);
  /** Why the last command did nothing, in the engine's words. */
  lastResult = $state("");

  private waiting: AnyEvent[] = [];
  /** A whole state to go on from, in place of events that were lost while the picture stood still. */
  private leap: View | null = null;
  /** Steps that were asked for and whose events have not come yet. */
  private owed = 0;
  private touched = false;
  private noticeCount = 0;
  private readonly socket: SessionSocket;

  constructor(
    readonly id: string,
    open?: (url: string) => WebSocket,
  ) {
    const base = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}`;
    this.socket = new SessionSocket(
      `${base}/ws/v1/sessions/${id}/`,
      {
        message: (message) => {
          this.receive(message);
        },
        link: (state, detail) => {
          this.link = state;
          if (detail.roundTripMillis !== undefined) this.roundTripMillis = detail.roundTripMillis;
          if (state === "waiting") this.askWhetherItIsThere();
        },
      },
      open,
    );
    this.socket.connect();
  }

  /** The state, for those who draw it: reading it is reading `version`. It is the same object every time, so derive from it at once. */
  get current(): State | null {
    void this.version;
    return this.state;
  }

  get playing(): boolean {
    return this.session.status === "running";
  }

  close(): void {
    this.socket.close();
  }

  /** One step forward: of the view, while events wait, else of the engine. */
  step(unit: Unit = this.unit): void {
    if (this.waiting.length || this.leap) {
      this.reveal(unit);
      return;
    }
    if (unit === "mutation") this.following = false;
    if (!this.following) this.owed += 1;
    this.send({ op: "step", unit });
  }

  togglePlay(): void {
    if (this.playing) {
      this.send({ op: "pause" });
      return;
    }
    this.follow();
    this.send({ op: "run", ...(this.rate === null ? {} : { rate: this.rate }) });
  }

  /** Another speed; a run that goes on is asked for again with it. */
  setRate(rate: number | null): void {
    this.rate = rate;
    if (!this.playing) return;
    this.send({ op: "pause" });
    this.send({ op: "run", ...(rate === null ? {} : { rate }) });
  }

  /** Show the newest moment, and stay there. */
  follow(): void {
    this.following = true;
    this.owed = 0;
    this.apply(this.waiting.length);
  }

  hold(): void {
    this.following = false;
  }

  send(command: AnyCommand): void {
    this.lastResult = "";
    const key = newKey();
    if (this.link === "open") this.socket.send({ type: "command", key, command });
    else
      postCommand(this.id, key, command).catch((error: unknown) => {
        this.tell("error", (error instanceof Error && error.message) || t("error.unreachable"));
      });
  }

  select(selection: Selection | null): void {
    this.selection = selection;
    this.drawerOpen = selection !== null;
  }

  tell(tone: Notice["tone"], text: string): void {
    if (!text) return;
    const notice = { id: ++this.noticeCount, tone, text };
    this.notices = [...this.notices.slice(-2), notice];
    setTimeout(() => {
      this.dismiss(notice.id);
    }, NOTICE_MILLIS);
  }

  dismiss(id: number): void {
    this.notices = this.notices.filter((notice) => notice.id !== id);
  }

  private receive(message: ServerMessage): void {
    switch (message.type) {
      case "view":
        this.waiting = [];
        this.headEvent = message.event;
        if (this.state && !this.following) {
          // The picture stands still; what came in between was lost on the way, so the next step is a leap.
          this.leap = message.view;
        } else this.state = State.of(message.view);
        this.count();
        this.history.clear(message.event);
        this.recall(message.event);
        this.know(message.session);
        this.askForReport();
        this.touch();
        return;
      case "frame":
        this.know(message.session);
        this.take(message.events);
        return;
      case "status":
        this.know(message.session);
        return;
      case "outcome":
        if (message.outcome.error) this.tell("error", message.outcome.error);
        this.lastResult = message.outcome.result ?? "";
        return;
      case "error":
        this.tell("error", message.message);
        return;
      case "gap": // A view follows.
      case "ack":
      case "heartbeat":
      case "pong":
        return;
    }
  }

  /** Fetch what happened shortly before, for the timeline. */
  private recall(event: number): void {
    const after = Math.max(0, event - RECALLED);
    if (after === event) return;
    getEvents(this.id, after, RECALLED).then(
      ({ events }) => {
        const earlier = events.filter((one) => one.event <= event);
        if (earlier[0]?.event !== after + 1 || this.history.since !== event) return;
        this.history.prepend(earlier);
        this.touch();
      },
      () => undefined, // The timeline begins here, then.
    );
  }

  /** A socket that is refused does not say why: REST does. */
  private askWhetherItIsThere(): void {
    getSession(this.id).catch((error: unknown) => {
      if (!(error instanceof ApiError) || ![401, 403, 404].includes(error.status)) return;
      this.socket.close();
      this.link = "closed";
    });
  }

  private askForReport(): void {
    if (this.report !== null || this.session.status === "importing") return;
    getSession(this.id).then(
      (session) => {
        this.report = session.report ?? null;
      },
      () => undefined, // The page is whole without it.
    );
  }

  private know(session: SessionInfo | undefined): void {
    if (session) this.session = { ...this.session, ...session };
  }

  private take(events: readonly AnyEvent[]): void {
    if (!this.state) return;
    const known = this.headEvent;
    const fresh = events.filter((event) => event.event > known);
    const first = fresh[0];
    if (!first) return;
    if (first.event !== known + 1) {
      this.socket.startOver();
      return;
    }
    this.headEvent = fresh[fresh.length - 1]!.event;
    for (const event of fresh) this.history.add(event);
    this.waiting.push(...fresh);
    if (this.following) this.apply(this.waiting.length);
    else {
      while (this.owed > 0 && this.waiting.length) {
        this.owed -= 1;
        this.reveal(this.unit);
      }
      this.count();
    }
    this.touch();
  }

  private count(): void {
    this.waitingCount = this.following ? 0 : this.headEvent - (this.state?.event ?? 0);
  }

  private reveal(unit: Unit): void {
    this.apply(revealed(this.waiting, unit));
  }

  private apply(count: number): void {
    if (this.leap) {
      this.state = State.of(this.leap);
      this.leap = null;
    }
    if (this.state)
      for (const event of this.waiting.splice(0, count)) {
        fold(this.state, event);
        if (!isSilent(event)) this.lastEvent = event;
      }
    this.count();
    this.touch();
  }

  /** In a hidden tab no animation frame comes: a microtask always does. */
  private touch(): void {
    if (this.touched) return;
    this.touched = true;
    queueMicrotask(() => {
      this.touched = false;
      this.version += 1;
    });
  }
}

/** A key that nobody else makes. `crypto.randomUUID` needs a secure context, which a plain http address in a workshop is not. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
