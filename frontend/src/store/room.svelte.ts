import { whenReady } from "../api/forks";
import * as rest from "../api/rooms";
import type { RoomMoment, Room, RoomQuestion } from "../model/room";
import { failureOf } from "../i18n/failure";
import { idempotencyKey } from "../model/idempotencyKey";
import { sameMoment } from "../model/roomMoment";
import type { LinkState } from "../wire/reconnectingSocket";
import { RoomSocket, type RoomMessage } from "../wire/roomSocket";

/** A room from the perspective of one page: its state on the server, and requests to the server. */
export class RoomStore {
  room = $state.raw<Room | null>(null);
  /** The teacher's moment and view. */
  moment = $state.raw<RoomMoment | null>(null);
  link = $state<LinkState>("connecting");
  /** Why the connection was closed permanently: 4403 removed, 4410 ended, 4401 or 4404 not in the room. */
  closedFor = $state(0);
  problem = $state("");
  busy = $state(false);
  /** Whether a participant follows the teacher or navigates freely. */
  following = $state(true);
  /** Whether the teacher's panel is open; kept when another session is shown. */
  panelOpen = $state(false);
  /** The teacher's position in the lesson. */
  lessonAt = $state.raw({ stop: "", finished: false });
  /** The participant's own fork that is open; "": none. */
  trying = $state("");
  private readonly gone = new AbortController();
  private readonly socket: RoomSocket;

  constructor(
    readonly id: string,
    open?: (url: string) => WebSocket,
  ) {
    const base = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}`;
    this.socket = new RoomSocket(
      `${base}/ws/v1/rooms/${id}/`,
      {
        message: (message) => {
          this.receive(message);
        },
        link: (state, code) => {
          this.link = state;
          if (state === "closed") this.closedFor = code;
        },
      },
      open,
    );
    this.socket.connect();
  }

  get teaches(): boolean {
    return this.room?.role === "teacher";
  }

  /** The room's session. */
  get shown(): string {
    return this.room?.shown?.session ?? this.room?.session ?? "";
  }

  /** The session that this page shows. */
  get session(): string {
    return this.trying || this.shown;
  }

  /** The current or last question. */
  get question(): RoomQuestion | null {
    return this.room?.questions.at(-1) ?? null;
  }

  /** The last question about a stop of the lesson. */
  questionOf(stop: string): RoomQuestion | null {
    return this.room?.questions.findLast((question) => question.stop === stop) ?? null;
  }

  close(): void {
    this.gone.abort();
    this.socket.close();
  }

  /** The teacher went there. */
  go(moment: RoomMoment): void {
    this.socket.report({ type: "moment", moment });
  }

  /** Follow the teacher, or navigate freely. */
  follow(following: boolean): void {
    this.following = following;
    if (!this.teaches) this.socket.report({ type: "following", following });
  }

  /** Return to the teacher's moment and session. */
  snapBack(): void {
    this.trying = "";
    this.follow(true);
  }

  /** Fork the shown moment to try something. */
  async tryOut(session: string, at: number): Promise<void> {
    await this.attempt(async () => {
      const fork = await rest.forkInRoom(this.id, { session, at, key: idempotencyKey() });
      await whenReady(fork.id, this.gone.signal);
      this.returnTo(fork.id);
    });
  }

  /** Continue in one's own fork. */
  returnTo(fork: string): void {
    this.follow(false);
    this.trying = fork;
  }

  readonly answer = (question: number, value: string): Promise<void> => this.take(rest.sendAnswer(this.id, question, value));
  readonly raiseHand = (raised: boolean): Promise<void> => this.take(rest.raiseHand(this.id, raised));
  readonly ask = (question: rest.NewQuestion): Promise<void> => this.take(rest.ask(this.id, question));
  readonly changeQuestion = (n: number, change: { open?: boolean; revealed?: boolean; right?: string }): Promise<void> => this.take(rest.changeQuestion(this.id, n, change));
  readonly lock = (locked: boolean): Promise<void> => this.take(rest.changeRoom(this.id, { locked }));
  readonly newCode = (): Promise<void> => this.take(rest.newCode(this.id));
  readonly show = (session: string | null): Promise<void> => this.take(rest.showFork(this.id, session));
  readonly end = (keep: boolean): Promise<void> => this.take(rest.endRoom(this.id, keep));
  readonly lowerHand = (participant: number): Promise<void> => this.take(rest.lowerHand(this.id, participant));
  readonly remove = (participant: number): Promise<void> => this.attempt(() => rest.removeParticipant(this.id, participant));

  async leave(): Promise<void> {
    await this.attempt(async () => {
      await rest.leaveRoom(this.id);
      this.socket.close();
      location.assign("/r/");
    });
  }

  private receive(message: RoomMessage): void {
    switch (message.type) {
      case "room":
        this.know(message.room);
        return;
      case "moment":
        this.moment = message.moment;
        return;
      case "error":
        this.problem = message.message;
        return;
      case "heartbeat":
      case "pong":
        return;
    }
  }

  private know(room: Room): void {
    this.room = room;
    if (room.moment && !sameMoment(room.moment, this.moment)) this.moment = room.moment;
    if (this.trying && room.you && !room.you.forks.some(({ session }) => session === this.trying)) this.trying = "";
  }

  /** A REST response may arrive before or after the message on the socket: both are the room's current state. */
  private take(answer: Promise<Room>): Promise<void> {
    return this.attempt(async () => {
      this.know(await answer);
    });
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    this.busy = true;
    this.problem = "";
    try {
      await work();
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) this.problem = failureOf(error);
    } finally {
      this.busy = false;
    }
  }
}
