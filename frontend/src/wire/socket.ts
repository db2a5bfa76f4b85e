import { OrderedDecoder } from "./decode";
import type { ClientMessage, ServerMessage } from "./messages";

/** open: frames arrive. waiting: disconnected, and a retry is scheduled. closed: the server refused, or the page left. */
export type LinkState = "connecting" | "open" | "waiting" | "closed";

export interface SocketEvents {
  message(message: ServerMessage): void;
  link(state: LinkState, detail: { code?: number; retryInMillis?: number; roundTripMillis?: number }): void;
}

const FIRST_WAIT_MILLIS = 250;
const LONGEST_WAIT_MILLIS = 10_000;
/** The server sends a heartbeat every 15 s: after this time without one, the connection is dead. */
const SILENCE_MILLIS = 40_000;
const PING_MILLIS = 5_000;
/** The first ping waits for the view, which would delay it. */
const FIRST_PING_MILLIS = 1_500;
/** Close codes after which retrying is pointless: not signed in, no such session. */
const FINAL_CODES = new Set([4401, 4403, 4404]);

/**
 * The connection to one session: connects, resumes after the last delivered chunk, and reconnects with growing pauses. Commands without an
 * acknowledgement are sent again with the same key, which the server applies once.
 */
export class SessionSocket {
  private socket: WebSocket | null = null;
  private chunk: number | null = null;
  private failures = 0;
  private left = false;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private watch: ReturnType<typeof setInterval> | undefined;
  private lastHeard = 0;
  private pingSent = 0;
  private readonly unacknowledged = new Map<string, ClientMessage>();

  constructor(
    private readonly url: string,
    private readonly events: SocketEvents,
    private readonly open: (url: string) => WebSocket = (url) => new WebSocket(url),
  ) {}

  connect(): void {
    clearTimeout(this.retry);
    this.events.link("connecting", {});
    const socket = this.open(this.chunk === null ? this.url : `${this.url}${this.url.includes("?") ? "&" : "?"}from=${this.chunk}`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    const decoder = new OrderedDecoder(
      (message) => {
        if (socket === this.socket) this.receive(message);
      },
      () => {
        socket.close(4000, "undecodable");
      },
    );
    socket.onopen = () => {
      this.lastHeard = performance.now();
      this.watch = setInterval(() => {
        this.check();
      }, PING_MILLIS);
      for (const message of this.unacknowledged.values()) socket.send(JSON.stringify(message));
      this.events.link("open", {});
      setTimeout(() => {
        if (socket === this.socket) this.ping();
      }, FIRST_PING_MILLIS);
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      this.lastHeard = performance.now();
      decoder.take(event.data);
    };
    socket.onclose = (event) => {
      if (socket === this.socket) this.lost(event.code);
    };
  }

  send(message: ClientMessage): void {
    if (message.type === "command") this.unacknowledged.set(message.key, message);
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Request the whole view: the model detected a gap. */
  startOver(): void {
    this.chunk = null;
    this.socket?.close(4001, "start over");
  }

  close(): void {
    this.left = true;
    clearTimeout(this.retry);
    clearInterval(this.watch);
    this.socket?.close(1000);
  }

  private receive(message: ServerMessage): void {
    this.failures = 0;
    if (message.type === "frame" && this.chunk !== null && message.firstChunk !== this.chunk + 1) {
      // Missing data is requested; known data is not sent again.
      if (message.firstChunk > this.chunk + 1) this.send({ type: "resume", from: this.chunk });
      return;
    }
    if (message.type === "view" || message.type === "frame") this.chunk = message.chunk;
    if (message.type === "ack") this.unacknowledged.delete(message.key);
    if (message.type === "error" && message.key) this.unacknowledged.delete(message.key);
    if (message.type === "pong") this.events.link("open", { roundTripMillis: performance.now() - this.pingSent });
    this.events.message(message);
  }

  private ping(): void {
    this.pingSent = performance.now();
    this.send({ type: "ping" });
  }

  private check(): void {
    if (performance.now() - this.lastHeard > SILENCE_MILLIS) this.socket?.close(4002, "silence");
    else this.ping();
  }

  private lost(code: number): void {
    clearInterval(this.watch);
    this.socket = null;
    if (this.left || FINAL_CODES.has(code)) {
      this.events.link("closed", { code });
      return;
    }
    const wait = Math.min(LONGEST_WAIT_MILLIS, FIRST_WAIT_MILLIS * 2 ** this.failures) * (0.75 + Math.random() / 2);
    this.failures += 1;
    this.events.link("waiting", { code, retryInMillis: wait });
    this.retry = setTimeout(() => {
      this.connect();
    }, wait);
  }
}
