import type { Moment, Room } from "../model/room";
import type { LinkState } from "./socket";

export type RoomMessage =
  | { type: "room"; room: Room }
  | { type: "moment"; moment: Moment | null }
  | { type: "error"; code: string; message: string }
  | { type: "heartbeat" }
  | { type: "pong" };

export interface RoomEvents {
  message(message: RoomMessage): void;
  /** `code`: the close code. */
  link(state: LinkState, code: number): void;
}

const FIRST_WAIT_MILLIS = 250;
const LONGEST_WAIT_MILLIS = 10_000;
/** The server sends a heartbeat every 15 s: after this time without one, the connection is dead. */
const SILENCE_MILLIS = 40_000;
const LOOK_MILLIS = 5_000;
/** Not admitted, removed, no such room, ended: retrying is pointless. */
const FINAL_CODES = new Set([4401, 4403, 4404, 4410]);

/** The connection to a room: reconnects with growing pauses, and sends its last messages again. */
export class RoomSocket {
  private socket: WebSocket | null = null;
  private failures = 0;
  private left = false;
  private lastHeard = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private watch: ReturnType<typeof setInterval> | undefined;
  /** Messages for the server by type: the newest of each. */
  private readonly said = new Map<string, string>();

  constructor(
    private readonly url: string,
    private readonly events: RoomEvents,
    private readonly open: (url: string) => WebSocket = (address) => new WebSocket(address),
  ) {}

  connect(): void {
    clearTimeout(this.retry);
    this.events.link("connecting", 0);
    const socket = this.open(this.url);
    this.socket = socket;
    socket.onopen = () => {
      this.lastHeard = performance.now();
      this.watch = setInterval(() => {
        if (performance.now() - this.lastHeard > SILENCE_MILLIS) socket.close(4002, "silence");
      }, LOOK_MILLIS);
      for (const text of this.said.values()) socket.send(text);
      this.events.link("open", 0);
    };
    socket.onmessage = (event: MessageEvent<string>) => {
      this.lastHeard = performance.now();
      this.failures = 0;
      if (socket === this.socket) this.events.message(JSON.parse(event.data) as RoomMessage);
    };
    socket.onclose = (event) => {
      if (socket === this.socket) this.lost(event.code);
    };
  }

  /** Report the shown moment, or whether the page follows. The newest report is sent again after a reconnect. */
  say(message: { type: "moment"; moment: Moment } | { type: "following"; following: boolean }): void {
    const text = JSON.stringify(message);
    if (this.said.get(message.type) === text) return;
    this.said.set(message.type, text);
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(text);
  }

  close(): void {
    this.left = true;
    clearTimeout(this.retry);
    clearInterval(this.watch);
    this.socket?.close(1000);
  }

  private lost(code: number): void {
    clearInterval(this.watch);
    this.socket = null;
    if (this.left || FINAL_CODES.has(code)) {
      this.events.link("closed", code);
      return;
    }
    const wait = Math.min(LONGEST_WAIT_MILLIS, FIRST_WAIT_MILLIS * 2 ** this.failures) * (0.75 + Math.random() / 2);
    this.failures += 1;
    this.events.link("waiting", code);
    this.retry = setTimeout(() => {
      this.connect();
    }, wait);
  }
}
