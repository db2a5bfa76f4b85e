/** open: messages arrive. waiting: disconnected, and a retry is scheduled. closed: the server refused, or the page left. */
export type ConnectionState = "connecting" | "open" | "waiting" | "closed";

export type OpenSocket = (url: string) => WebSocket;

const MIN_RETRY_MILLIS = 250;
const MAX_RETRY_MILLIS = 10_000;
/** The server sends a heartbeat every 15 s: after this time without one, the connection is dead. */
const MAX_SILENCE_MILLIS = 40_000;
const CHECK_MILLIS = 5_000;
/** Close codes after which retrying is pointless: not signed in or not in the room, removed, no such session or room, the room has ended. */
const REFUSED_CODES = new Set([4401, 4403, 4404, 4410]);

/** What a protocol does on its connection. */
export interface Protocol {
  /** The URL for the next attempt. */
  url(): string;
  /** Connected: send what the server may not have received. */
  opened(): void;
  received(data: ArrayBuffer | string): void;
  /** `code`: the close code; 0: the connection is not closed. */
  stateChanged(state: ConnectionState, code: number): void;
  /** Called every few seconds while connected. */
  checked?(): void;
}

/** A WebSocket that detects a dead connection, and reconnects with growing pauses. */
export class ReconnectingSocket {
  private socket: WebSocket | null = null;
  private failures = 0;
  private closed = false;
  private lastHeard = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private watch: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly protocol: Protocol,
    private readonly open: OpenSocket = (url) => new WebSocket(url),
  ) {}

  connect(): void {
    clearTimeout(this.retry);
    this.protocol.stateChanged("connecting", 0);
    const socket = this.open(this.protocol.url());
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.lastHeard = performance.now();
      this.watch = setInterval(() => {
        this.check();
      }, CHECK_MILLIS);
      this.protocol.opened();
      this.protocol.stateChanged("open", 0);
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      this.lastHeard = performance.now();
      if (socket === this.socket) this.protocol.received(event.data);
    };
    socket.onclose = ({ code }) => {
      if (socket === this.socket) this.lost(code);
    };
  }

  /** Send a message, if connected. */
  send(message: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** A message was understood: the next pause is short again. */
  succeeded(): void {
    this.failures = 0;
  }

  /** Close the connection, and connect again. */
  reconnect(code: number, reason: string): void {
    this.socket?.close(code, reason);
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.retry);
    clearInterval(this.watch);
    this.socket?.close(1000);
  }

  private check(): void {
    if (performance.now() - this.lastHeard > MAX_SILENCE_MILLIS) this.reconnect(4002, "silence");
    else this.protocol.checked?.();
  }

  private lost(code: number): void {
    clearInterval(this.watch);
    this.socket = null;
    if (this.closed || REFUSED_CODES.has(code)) {
      this.protocol.stateChanged("closed", code);
      return;
    }
    const pause = Math.min(MAX_RETRY_MILLIS, MIN_RETRY_MILLIS * 2 ** this.failures) * (0.75 + Math.random() / 2);
    this.failures += 1;
    this.protocol.stateChanged("waiting", code);
    this.retry = setTimeout(() => {
      this.connect();
    }, pause);
  }
}
