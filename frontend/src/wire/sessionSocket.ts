import { OrderedDecoder } from "./decode";
import type { ClientMessage, ServerMessage } from "./messages";
import { ReconnectingSocket, type ConnectionState, type OpenSocket } from "./reconnectingSocket";

export interface SessionEvents {
  message(message: ServerMessage): void;
  stateChanged(state: ConnectionState): void;
  roundTrip(millis: number): void;
}

/** The first ping waits for the view, which would delay it. */
const FIRST_PING_MILLIS = 1_500;

/**
 * The connection to one session: resumes after the last delivered chunk when it reconnects. Commands without an acknowledgement are sent again
 * with the same key, which the server applies once.
 */
export class SessionSocket {
  private readonly socket: ReconnectingSocket;
  /** The last delivered chunk; null: the server sends the whole view. */
  private chunk: number | null = null;
  /** Of the current connection: what another one still decodes is discarded. */
  private decoder: OrderedDecoder | null = null;
  private pingSent = 0;
  private readonly unacknowledged = new Map<string, ClientMessage>();

  constructor(
    private readonly url: string,
    private readonly events: SessionEvents,
    open?: OpenSocket,
  ) {
    this.socket = new ReconnectingSocket(
      {
        url: () => (this.chunk === null ? this.url : `${this.url}${this.url.includes("?") ? "&" : "?"}from=${this.chunk}`),
        opened: () => {
          this.opened();
        },
        received: (data) => {
          this.decoder?.take(data);
        },
        stateChanged: (state) => {
          if (state !== "open") this.decoder = null;
          this.events.stateChanged(state);
        },
        checked: () => {
          this.ping();
        },
      },
      open,
    );
  }

  connect(): void {
    this.socket.connect();
  }

  send(message: ClientMessage): void {
    if (message.type === "command") this.unacknowledged.set(message.key, message);
    this.socket.send(message);
  }

  /** Request the whole view: the model detected a gap. */
  startOver(): void {
    this.chunk = null;
    this.decoder = null;
    this.socket.reconnect(4001, "start over");
  }

  close(): void {
    this.socket.close();
  }

  private opened(): void {
    const decoder: OrderedDecoder = new OrderedDecoder(
      (message) => {
        if (decoder === this.decoder) this.receive(message);
      },
      () => {
        if (decoder === this.decoder) this.socket.reconnect(4000, "undecodable");
      },
    );
    this.decoder = decoder;
    for (const message of this.unacknowledged.values()) this.socket.send(message);
    setTimeout(() => {
      if (decoder === this.decoder) this.ping();
    }, FIRST_PING_MILLIS);
  }

  private receive(message: ServerMessage): void {
    this.socket.succeeded();
    if (message.type === "frame" && this.chunk !== null && message.firstChunk !== this.chunk + 1) {
      // Missing data is requested; known data is not sent again.
      if (message.firstChunk > this.chunk + 1) this.send({ type: "resume", from: this.chunk });
      return;
    }
    if (message.type === "view" || message.type === "frame") this.chunk = message.chunk;
    if (message.type === "ack") this.unacknowledged.delete(message.key);
    if (message.type === "error" && message.key) this.unacknowledged.delete(message.key);
    if (message.type === "pong") this.events.roundTrip(performance.now() - this.pingSent);
    this.events.message(message);
  }

  private ping(): void {
    this.pingSent = performance.now();
    this.send({ type: "ping" });
  }
}
