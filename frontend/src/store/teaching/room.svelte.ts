import { whenReady } from "../../api/forks";
import * as rest from "../../api/rooms";
import type { RoomMoment, Room, RoomQuestion } from "../../model/teaching/room";
import { failureOf } from "../../i18n/failure";
import { idempotencyKey } from "../../model/idempotencyKey";
import { sameMoment } from "../../model/teaching/roomMoment";
import type { ConnectionState } from "../../wire/reconnectingSocket";
import { RoomSocket, type RoomMessage } from "../../wire/roomSocket";

/** A room from the perspective of one page: its state on the server, and requests to the server. */
export class RoomStore {
  room = $state.raw<Room | null>(null);
  /** The teacher's moment and view. */
  moment = $state.raw<RoomMoment | null>(null);
  connectionState = $state<ConnectionState>("connecting");
  /** Of a connection that was closed permanently; 0: it is not. 4403 removed, 4410 ended, 4401 or 4404 not in the room. */
  closeCode = $state(0);
  problem = $state("");
  busy = $state(false);
  /** Whether a participant follows the teacher or navigates freely. */
  following = $state(true);
  /** Whether the teacher's panel is open; kept when another session is shown. */
  panelOpen = $state(false);
  /** The teacher's position in the lesson. */
  lessonPosition = $state.raw({ stop: "", finished: false });
  /** The participant's own fork that is open; "": none. */
  ownFork = $state("");
  private readonly closing = new AbortController();
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
        stateChanged: (state, code) => {
          this.connectionState = state;
          if (state === "closed") this.closeCode = code;
        },
      },
      open,
    );
    this.socket.connect();
  }

  get isTeacher(): boolean {
    return this.room?.role === "teacher";
  }

  /** The room's session. */
  get shown(): string {
    return this.room?.shown?.session ?? this.room?.session ?? "";
  }

  /** The session that this page shows. */
  get session(): string {
    return this.ownFork || this.shown;
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
    this.closing.abort();
    this.socket.close();
  }

  /** The teacher went there. */
  go(moment: RoomMoment): void {
    this.socket.report({ type: "moment", moment });
  }

  /** Follow the teacher, or navigate freely. */
  follow(following: boolean): void {
    this.following = following;
    if (!this.isTeacher) this.socket.report({ type: "following", following });
  }

  /** Return to the teacher's moment and session. */
  returnToTeacher(): void {
    this.ownFork = "";
    this.follow(true);
  }

  /** Fork the shown moment to try something. */
  async tryOut(session: string, at: number): Promise<void> {
    await this.attempt(async () => {
      const fork = await rest.forkInRoom(this.id, { session, at, key: idempotencyKey() });
      await whenReady(fork.id, this.closing.signal);
      this.openFork(fork.id);
    });
  }

  /** Show a fork of one's own. */
  openFork(fork: string): void {
    this.follow(false);
    this.ownFork = fork;
  }

  readonly answer = (question: number, value: string): Promise<void> => this.update(rest.sendAnswer(this.id, question, value));
  readonly raiseHand = (raised: boolean): Promise<void> => this.update(rest.raiseHand(this.id, raised));
  readonly ask = (question: rest.NewQuestion): Promise<void> => this.update(rest.ask(this.id, question));
  readonly changeQuestion = (n: number, change: { open?: boolean; revealed?: boolean; right?: string }): Promise<void> => this.update(rest.changeQuestion(this.id, n, change));
  readonly lock = (locked: boolean): Promise<void> => this.update(rest.changeRoom(this.id, { locked }));
  readonly newCode = (): Promise<void> => this.update(rest.newCode(this.id));
  readonly show = (session: string | null): Promise<void> => this.update(rest.showFork(this.id, session));
  readonly end = (keep: boolean): Promise<void> => this.update(rest.endRoom(this.id, keep));
  readonly lowerHand = (participant: number): Promise<void> => this.update(rest.lowerHand(this.id, participant));
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
        this.setRoom(message.room);
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

  private setRoom(room: Room): void {
    this.room = room;
    if (room.moment && !sameMoment(room.moment, this.moment)) this.moment = room.moment;
    if (this.ownFork && room.you && !room.you.forks.some(({ session }) => session === this.ownFork)) this.ownFork = "";
  }

  /** A REST response may arrive before or after the message on the socket: both are the room's current state. */
  private update(response: Promise<Room>): Promise<void> {
    return this.attempt(async () => {
      this.setRoom(await response);
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
