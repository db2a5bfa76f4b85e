import { commonDomain } from "../../model/names";
import type { AnyEvent } from "../../model/generated";
import { headAfter, headOf, type Head } from "../../model/state/head";
import type { Permalink, Selection } from "../../model/permalink";
import { State } from "../../model/state/state";
import type { SessionInfo } from "../../wire/messages";
import { Connection, type SessionMessage } from "./connection.svelte";
import { TransportControls } from "./transportControls";
import { Notices } from "./notices.svelte";
import type { Change } from "./picture.svelte";
import { Playback } from "./playback.svelte";
import { SelectionState } from "./selection.svelte";
import { ShownMoment } from "./shownMoment.svelte";
import { Summary } from "./summary.svelte";

/**
 * One session as its page sees it, composed of its connection, playback, shown moment and selection. There are two moments: the *head*,
 * where the engine is and commands apply, and the *shown* moment, which `playback` moves. Everything that one message changes changes in
 * one flush of Svelte.
 */
export class SessionStore {
  /** What the engine last reported of the session. */
  session = $state.raw<SessionInfo>({});
  head = $state.raw<Head>({ event: 0, clockSeconds: 0, cycle: 0, pod: "", nextStage: "" });

  readonly notices = new Notices();
  readonly selection = new SelectionState((selection) => this.tabFor(selection));
  readonly summary: Summary;
  readonly connection: Connection;
  readonly playback: Playback;
  readonly controls: TransportControls;

  /** Whether the user may change the session on this page. */
  readonly mayAct = $derived.by(() => this.summary.role !== "viewer" && this.acts());
  /** Whether the user may run the scheduler: also on phones, where the page allows no other changes. */
  readonly mayRun = $derived.by(() => this.summary.role !== "viewer");
  /** Whether the user may change who else has access to the session. */
  readonly mayShare = $derived.by(() => (this.summary.role ?? "owner") === "owner" && this.acts());
  /** Whether there is a picture: the session is neither being imported nor has its import failed. */
  readonly isDrawn = $derived.by(() => this.current !== null && this.session.status !== "importing" && this.session.status !== "failed");
  /** The domain that the names of all nodes end with; "": none. Nothing computes it for names without dots. */
  readonly nodeDomain = $derived.by(() => commonDomain(this.reading?.list.toArray().map(({ name }) => name) ?? []));
  /** Whether the engine runs. */
  readonly running = $derived(this.session.status === "running");
  /** Whether the shown moment advances automatically: by a replay in the past, otherwise by the running engine. */
  readonly playing = $derived.by(() => (this.playback.inThePast ? this.playback.replaying : this.running));

  private listeners: ((events: readonly AnyEvent[]) => void)[] = [];
  private readonly shown = new ShownMoment();

  /** `acts`: whether this page allows changes at all. */
  constructor(
    readonly id: string,
    open?: (url: string) => WebSocket,
    private readonly acts: () => boolean = () => true,
  ) {
    this.summary = new Summary(id);
    this.playback = new Playback(this, this.shown);
    this.controls = new TransportControls(this);
    this.connection = new Connection(
      id,
      this.notices,
      (message) => {
        this.receive(message);
      },
      open,
    );
    this.connection.connect();
  }

  // The shown moment. ShownMoment documents each member.

  get event(): number {
    return this.shown.event;
  }

  get version(): number {
    return this.shown.version;
  }

  get readVersion(): number {
    return this.shown.readVersion;
  }

  get change(): Change {
    return this.shown.change;
  }

  get state(): State | null {
    return this.shown.state;
  }

  get current(): State | null {
    return this.shown.current;
  }

  get reading(): State | null {
    return this.shown.reading;
  }

  get lastEvent(): AnyEvent | null {
    return this.shown.lastEvent;
  }

  get headEvent(): number {
    return this.head.event;
  }

  /** What the page shows, as its permalink records it. */
  get permalink(): Permalink {
    const { playback, selection } = this;
    const select = selection.inDrawer;
    return {
      ...(playback.inThePast ? { at: playback.seeking ?? this.event } : {}),
      ...(select ? { select } : {}),
      ...(select && selection.tab !== "summary" ? { tab: selection.tab } : {}),
    };
  }

  /** A pod that waits after an attempt, or is gated, opens on the reason. */
  private tabFor({ kind, name }: Selection): string {
    const queue = this.current?.queue;
    const hasReason = queue?.unschedulable.get(name) ?? queue?.backoffQ.get(name) ?? queue?.errorBackoffQ.get(name);
    return kind === "pod" && hasReason ? "why" : "summary";
  }

  /** Open a permalink: its selection at once, its moment as soon as there is a view. */
  goTo(permalink: Permalink): void {
    if (permalink.select) this.selection.select(permalink.select);
    if (permalink.tab) this.selection.tab = permalink.tab;
    this.playback.goTo(permalink);
  }

  /** Call `listener` with every event that arrives live, whichever moment is shown. Returns the function that stops this. */
  listen(listener: (events: readonly AnyEvent[]) => void): () => void {
    this.listeners = [...this.listeners, listener];
    return () => {
      this.listeners = this.listeners.filter((other) => other !== listener);
    };
  }

  resync(): void {
    this.connection.resync();
  }

  close(): void {
    this.playback.close();
    this.shown.close();
    this.connection.close();
  }

  private receive(message: SessionMessage): void {
    if (message.type !== "status") this.shown.publishSoon();
    if (message.session) this.session = { ...this.session, ...message.session };
    if (message.type === "frame") this.takeEvents(message.events);
    if (message.type === "view") {
      this.head = headOf(message.view);
      if (this.session.status !== "importing") this.summary.ask();
      this.playback.load(State.of(message.view));
    }
    if (message.type === "status" && message.session.event !== undefined && message.session.status !== "importing") {
      this.playback.limitDestination(message.session.event);
    }
  }

  private takeEvents(events: readonly AnyEvent[]): void {
    const { buffer } = this.shown;
    if (!buffer) return;
    const newest = this.head.event;
    const fresh = events.filter((event) => event.event > newest);
    const first = fresh[0];
    if (!first) return;
    if (first.event !== newest + 1) {
      this.resync();
      return;
    }
    this.head = fresh.reduce(headAfter, this.head);
    const isContinued = buffer.append(fresh);
    for (const listener of this.listeners) listener(fresh);
    this.playback.advance(buffer, isContinued);
  }
}
