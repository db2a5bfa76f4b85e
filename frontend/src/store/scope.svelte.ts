import { ApiError, getSession, postCommand } from "../api/client";
import { getCycles } from "../api/moments";
import { passProtocols } from "../api/pass";
import { t } from "../i18n/translate";
import type { Unit } from "../model/boundaries";
import type { AnyCommand, AnyEvent } from "../model/generated";
import { headAfter, headOf, type Head } from "../model/head";
import { NO_NAMES } from "../model/names";
import { newKey } from "../model/newKey";
import type { Place, Selection } from "../model/permalink";
import { State } from "../model/state";
import { Tape } from "../model/tape";
import type { ServerMessage, SessionInfo } from "../wire/messages";
import { SessionSocket, type LinkState } from "../wire/socket";
import { FramePace } from "./framePace";
import { fetchMoment, fetchMore } from "./moments";
import { Notices } from "./notices.svelte";
import { OwnRefusals } from "./ownRefusals";
import { Picture, type Change } from "./picture.svelte";
import { Replay } from "./replay";
import { Summary } from "./summary.svelte";

export type { Selection };

/**
 * One session as its page sees it. There are two moments: the *head*, where the engine is and commands apply, and the moment that is
 * *shown*. LIVE, the shown one follows; otherwise it stands still, or goes through what has happened, and what comes new is counted.
 * The model is plain data outside of Svelte; `version` goes up, at most once in a microtask, when the picture has changed, and everything
 * that draws reads it first. What a message changes besides, such as the head, changes in the same flush of Svelte: there is one for each message.
 */
export class Scope {
  link = $state<LinkState>("connecting");
  roundTripMillis = $state<number | null>(null);
  session = $state.raw<SessionInfo>({});
  /** LIVE: new events are shown as they come. False: they wait, and are counted. */
  following = $state(true);
  /** The event of the moment that is shown. */
  event = $state(0);
  head = $state.raw<Head>({ event: 0, clockSeconds: 0, cycle: 0, pod: "", nextStage: "" });
  /** Before this event the server has nothing. */
  firstEvent = $state(0);
  /** The moment that is being fetched. */
  seeking = $state<number | null>(null);
  /** The past is being played. */
  replaying = $state(false);
  unit = $state<Unit>("cycle");
  /** Cycles a second while playing; null: as fast as the worker can. */
  rate = $state<number | null>(2);
  selection = $state.raw<Selection | null>(null);
  /** The drawer's tab. */
  tab = $state("summary");
  hovered = $state.raw<Selection | null>(null);
  drawerOpen = $state(false);
  /** Nodes that something on the page speaks of while it is pointed at. */
  lit = $state.raw(NO_NAMES);
  /** Why the last command did nothing, in the engine's words. */
  lastResult = $state("");

  readonly notices = new Notices();
  readonly summary: Summary;

  /** Whether something can be done to the session here, and not only looked at. */
  readonly mayAct = $derived.by(() => this.summary.role !== "viewer" && this.acts());
  /** Whether it is theirs to say who else may see the session. */
  readonly mayShare = $derived.by(() => (this.summary.role ?? "owner") === "owner" && this.acts());
  /** There is a picture: neither is the session still being imported, nor did that fail. */
  readonly isDrawn = $derived(this.current !== null && this.session.status !== "importing" && this.session.status !== "failed");
  /** How many events have happened after the moment that is shown. */
  readonly waitingCount = $derived(Math.max(0, this.head.event - this.event));
  /** Whether the shown moment is in the past, where nothing can be done, only looked at. */
  readonly inThePast = $derived(!this.following && this.waitingCount > 0);
  /** Whether the engine runs. */
  readonly running = $derived(this.session.status === "running");
  /** Whether the picture moves by itself. */
  readonly playing = $derived(this.inThePast ? this.replaying : this.running);

  private listeners: ((events: readonly AnyEvent[]) => void)[] = [];
  private tape: Tape | null = null;
  private wanted: Place = {};
  /** Steps that were asked for and whose events have not come yet. */
  private owed = 0;
  private readonly picture = new Picture(() => {
    this.event = this.tape?.event ?? 0;
  });
  private fetching: AbortController | null = null;
  private readonly replay = new Replay((count) => this.replaySteps(count));
  private readonly pace = new FramePace<ServerMessage>(
    (message) => { this.receive(message); },
    ({ type }) => type === "frame" || type === "view",
  );
  /** Of what was sent from here alone: who sends a command elsewhere, such as a form of this page, tells what came of it. */
  private readonly refused = new OwnRefusals((error) => { this.notices.tell("error", error); });
  private readonly socket: SessionSocket;

  /** `acts`: whether something can be done on this page at all. */
  constructor(
    readonly id: string,
    open: (url: string) => WebSocket = (url) => new WebSocket(url, passProtocols()),
    private readonly acts: () => boolean = () => true,
  ) {
    this.summary = new Summary(id);
    const base = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}`;
    this.socket = new SessionSocket(
      `${base}/ws/v1/sessions/${id}/`,
      {
        message: (message) => {
          this.pace.take(message);
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

  get version(): number {
    return this.picture.version;
  }

  get readVersion(): number {
    return this.picture.readVersion;
  }

  /** What the picture went through last. Not reactive: read `version` before it. */
  get change(): Change {
    return this.picture.change;
  }

  /** The moment that is shown. Not reactive: read `version` before it. */
  get state(): State | null {
    return this.tape?.state ?? null;
  }

  /** The state, for those who draw it: reading it is reading `version`. It is the same object every time, so derive from it at once. */
  get current(): State | null {
    void this.version;
    return this.state;
  }

  /** The state, for those who print what one stops to read: reading it is reading `readVersion`. */
  get reading(): State | null {
    void this.readVersion;
    return this.state;
  }

  /** The event that led to the moment that is shown. */
  get lastEvent(): AnyEvent | null {
    void this.version;
    return this.tape?.shown ?? null;
  }

  /** The last event that the server has told of. */
  get headEvent(): number {
    return this.head.event;
  }

  close(): void {
    this.fetching?.abort();
    this.replay.stop();
    this.pace.close();
    this.picture.close();
    this.socket.close();
  }

  /** Be told of every event that comes live, whichever moment is shown, until the returned function is called. */
  listen(listener: (events: readonly AnyEvent[]) => void): () => void {
    this.listeners = [...this.listeners, listener];
    return () => {
      this.listeners = this.listeners.filter((other) => other !== listener);
    };
  }

  /** One step forward: of the view, while there is something ahead of it, else of the engine. */
  step(unit: Unit = this.unit): void {
    this.pauseReplay();
    if (this.inThePast) {
      void this.forward(unit);
      return;
    }
    if (!this.mayAct) return;
    if (unit === "mutation") this.following = false;
    if (!this.following) this.owed += 1;
    this.send({ op: "step", unit });
  }

  /** One step back, of the view. The engine stays where it is. */
  async stepBack(unit: Unit = this.unit): Promise<void> {
    const { tape } = this;
    if (!tape || this.seeking !== null) return;
    this.hold();
    const before = tape.before(unit);
    if (before !== null) this.picture.moved(tape.go(before), true);
    else if (tape.first <= this.firstEvent) this.picture.moved(tape.go(tape.first), true);
    else {
      const { event } = tape;
      // The stretch before is fetched so that it ends here; from there it is a step like any other.
      if (!(await this.fetchAround(event)) || !this.tape) return;
      this.picture.moved(this.tape.go(this.tape.before(unit) ?? this.tape.first), true);
    }
  }

  /** Show a moment: the one after an event. */
  async seek(event: number): Promise<void> {
    const { tape } = this;
    if (!tape) return;
    this.hold();
    const to = Math.max(this.firstEvent, Math.min(event, this.head.event));
    if (to >= tape.first && to <= tape.last) {
      this.fetching?.abort();
      const back = to < tape.event;
      this.picture.moved(tape.go(to), back);
    } else await this.fetchAround(to);
  }

  /** Show the end of a cycle; false: there is none of this number. */
  async seekCycle(cycle: number): Promise<boolean> {
    try {
      const { results } = await getCycles(this.id, { after: cycle - 1, limit: 1 });
      const event = results[0]?.cycle === cycle ? results[0].lastEvent : undefined;
      if (event === undefined) return false;
      await this.seek(event);
      return true;
    } catch (error) {
      this.notices.tellOf(error);
      return false;
    }
  }

  /** Go where an address points: to its moment once there is one, to its selection at once. */
  goTo(place: Place): void {
    if (place.select) this.select(place.select);
    if (place.tab) this.tab = place.tab;
    this.wanted = place;
    if (place.at !== undefined || place.cycle !== undefined) this.following = false;
    if (this.tape) this.goWhereWanted();
  }

  /** Where the page is. */
  get place(): Place {
    return {
      ...(this.inThePast ? { at: this.seeking ?? this.event } : {}),
      ...(this.selection && this.drawerOpen ? { select: this.selection } : {}),
      ...(this.selection && this.drawerOpen && this.tab !== "summary" ? { tab: this.tab } : {}),
    };
  }

  togglePlay(): void {
    if (this.inThePast) {
      if (this.replaying) this.pauseReplay();
      else this.startReplay();
      return;
    }
    if (!this.mayAct) return;
    if (this.running) {
      this.send({ op: "pause" });
      return;
    }
    this.follow();
    this.send({ op: "run", ...(this.rate === null ? {} : { rate: this.rate }) });
  }

  /** Stop the engine, whichever moment is shown. */
  pauseEngine(): void {
    this.send({ op: "pause" });
  }

  /** Another speed; what plays goes on with it. */
  setRate(rate: number | null): void {
    this.rate = rate;
    if (this.replaying) this.startReplay();
    if (!this.running || this.inThePast || !this.mayAct) return;
    this.send({ op: "pause" });
    this.send({ op: "run", ...(rate === null ? {} : { rate }) });
  }

  setUnit(unit: Unit): void {
    this.unit = unit;
    if (this.replaying) this.startReplay();
  }

  /** Show the newest moment, and stay there. */
  follow(): void {
    this.pauseReplay();
    this.fetching?.abort();
    this.following = true;
    this.owed = 0;
    if (!this.tape) return;
    if (this.tape.last === this.head.event) this.picture.moved(this.tape.go(this.head.event), false);
    else this.startOver();
  }

  /** Stay at the moment that is shown. */
  hold(): void {
    this.pauseReplay();
    this.following = false;
    this.owed = 0;
  }

  send(command: AnyCommand): void {
    this.lastResult = "";
    const key = newKey();
    if (this.link === "open") this.socket.send({ type: "command", key, command });
    else postCommand(this.id, key, command).then(({ seq }) => { this.refused.own(seq); }).catch((error: unknown) => { this.notices.tellOf(error); });
  }

  select(selection: Selection | null, tab?: string): void {
    this.selection = selection;
    this.drawerOpen = selection !== null;
    if (tab) this.tab = tab;
  }

  private receive(message: ServerMessage): void {
    // Before anything that Svelte reacts to: it would do its work twice, first with the new head and the old picture.
    if (message.type === "frame" || message.type === "view") this.picture.publishSoon();
    switch (message.type) {
      case "view":
        this.head = headOf(message.view);
        this.know(message.session);
        if (this.session.status !== "importing") this.summary.ask();
        if (!this.tape || this.following) {
          this.tape = new Tape(State.of(message.view));
          this.picture.replaced();
          this.goWhereWanted();
        }
        return;
      case "frame":
        this.know(message.session);
        this.take(message.events);
        return;
      case "status":
        this.know(message.session);
        return;
      case "outcome":
        if (message.outcome.error) this.refused.take(message.seq, message.outcome.error);
        this.lastResult = message.outcome.result ?? "";
        return;
      case "error":
        this.notices.tell("error", message.message);
        return;
      case "ack":
        this.refused.own(message.seq);
        return;
      case "gap": // A view follows.
      case "heartbeat":
      case "pong":
        return;
    }
  }

  /** A socket that is refused does not say why: REST does. */
  private askWhetherItIsThere(): void {
    getSession(this.id).catch((error: unknown) => {
      if (!(error instanceof ApiError) || ![401, 403, 404].includes(error.status)) return;
      this.socket.close();
      this.link = "closed";
    });
  }

  private know(session: SessionInfo | undefined): void {
    if (session) this.session = { ...this.session, ...session };
  }

  private take(events: readonly AnyEvent[]): void {
    const { tape } = this;
    if (!tape) return;
    const known = this.head.event;
    const fresh = events.filter((event) => event.event > known);
    const first = fresh[0];
    if (!first) return;
    if (first.event !== known + 1) {
      this.startOver();
      return;
    }
    this.head = fresh.reduce(headAfter, this.head);
    const kept = tape.append(fresh);
    for (const listener of this.listeners) listener(fresh);
    if (this.following) {
      if (kept) this.picture.moved(tape.go(tape.last), false);
      else this.startOver();
    } else this.showOwed(tape);
  }

  /** Show as many steps as were asked of the engine: more may have come with them. */
  private showOwed(tape: Tape): void {
    while (this.owed > 0 && tape.event < tape.last) {
      this.owed -= 1;
      this.picture.moved(tape.go(tape.after(this.unit) ?? tape.last), false);
    }
  }

  /** Ask for everything again: something was missed, or was never here. */
  private startOver(): void {
    this.pace.forgetDrawn();
    this.socket.startOver();
  }

  private goWhereWanted(): void {
    const { at, cycle } = this.wanted;
    this.wanted = {};
    if (at !== undefined) void this.seek(at);
    else if (cycle !== undefined)
      void this.seekCycle(cycle).then((found) => {
        if (!found) this.notices.tell("error", t("moment.noCycle", { cycle }));
      });
  }

  /** A step forward of the view; false: it is at the head. */
  private async forward(unit: Unit): Promise<boolean> {
    const { tape } = this;
    if (!tape || this.seeking !== null) return false;
    let end = tape.after(unit);
    while (end === null && tape.last < this.head.event) {
      const fetching = this.beginFetching(tape.last);
      try {
        if (!(await fetchMore(this.id, tape, fetching.signal)) && tape.event === tape.last) return false;
      } catch (error) {
        this.notices.tellOf(error);
        return false;
      } finally {
        this.endFetching(fetching);
      }
      end = tape.after(unit);
      // No room for more of what lies ahead: go as far as it is known.
      if (end === null && tape.last < this.head.event && tape.event < tape.last) break;
    }
    this.picture.moved(tape.go(end ?? tape.last), false);
    return tape.event < this.head.event;
  }

  private async replaySteps(count: number): Promise<boolean> {
    let more = true;
    for (let i = 0; i < count && more; i++) more = await this.forward(this.unit);
    if (!more) this.replaying = false;
    return more;
  }

  private startReplay(): void {
    this.replaying = true;
    this.replay.start(this.rate, this.unit);
  }

  private pauseReplay(): void {
    this.replaying = false;
    this.replay.stop();
  }

  /** Show a moment that has to be fetched; false: it could not be, or something else is wanted by now. */
  private async fetchAround(event: number): Promise<boolean> {
    const fetching = this.beginFetching(event);
    try {
      const moment = await fetchMoment(this.id, event, this.firstEvent, fetching.signal);
      if (fetching.signal.aborted) return false;
      this.firstEvent = Math.max(this.firstEvent, moment.firstEvent);
      this.tape = moment.tape;
      this.picture.replaced();
      return true;
    } catch (error) {
      this.notices.tellOf(error);
      return false;
    } finally {
      this.endFetching(fetching);
    }
  }

  private beginFetching(event: number): AbortController {
    this.fetching?.abort();
    this.fetching = new AbortController();
    this.seeking = event;
    return this.fetching;
  }

  private endFetching(fetching: AbortController): void {
    if (this.fetching !== fetching) return;
    this.fetching = null;
    this.seeking = null;
  }
}
