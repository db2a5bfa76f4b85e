import { ApiError, getSession } from "../../api/client";
import { postCommand } from "../../api/commands";
import { linkProtocols } from "../../api/shareLink";
import type { AnyCommand } from "../../model/generated";
import { idempotencyKey } from "../../model/idempotencyKey";
import type { ServerMessage } from "../../wire/messages";
import type { ConnectionState } from "../../wire/reconnectingSocket";
import { SessionSocket } from "../../wire/sessionSocket";
import { FramePace } from "./framePace";
import type { Notices } from "./notices.svelte";
import { RefusedCommands } from "./refusedCommands";

/** Server messages that describe the session, as opposed to the results of commands. */
export type SessionMessage = Extract<ServerMessage, { type: "view" | "frame" | "status" }>;

const isDrawn = ({ type }: ServerMessage): boolean => type === "frame" || type === "view";

/** The connection to one session: delivers what happens there, sends commands, and reports what became of them. */
export class Connection {
  state = $state<ConnectionState>("connecting");
  roundTripMillis = $state<number | null>(null);
  /** Why the last command did nothing, in the engine's words. */
  lastResult = $state("");

  private readonly pace = new FramePace<ServerMessage>((message) => {
    this.receive(message);
  }, isDrawn);
  /** For commands sent with `send` only: forms of the page report the results of their own commands. */
  private readonly refusals = new RefusedCommands((error) => {
    this.notices.show("error", error);
  });
  private readonly socket: SessionSocket;

  constructor(
    private readonly id: string,
    private readonly notices: Notices,
    private readonly deliver: (message: SessionMessage) => void,
    open: (url: string) => WebSocket = (url) => new WebSocket(url, linkProtocols()),
  ) {
    const base = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}`;
    this.socket = new SessionSocket(
      `${base}/ws/v1/sessions/${id}/`,
      {
        message: (message) => {
          this.pace.take(message);
        },
        stateChanged: (state) => {
          this.state = state;
          if (state === "waiting") this.checkSessionExists();
        },
        roundTrip: (millis) => {
          this.roundTripMillis = millis;
        },
      },
      open,
    );
  }

  connect(): void {
    this.socket.connect();
  }

  /** Send a command over the socket, or over REST while the socket is down. */
  send(command: AnyCommand): void {
    this.lastResult = "";
    const key = idempotencyKey();
    if (this.state === "open") {
      this.socket.send({ type: "command", key, command });
      return;
    }
    postCommand(this.id, key, command).then(
      ({ seq }) => {
        this.refusals.own(seq);
      },
      (error: unknown) => {
        this.notices.showError(error);
      },
    );
  }

  /** Request the whole view again: events were missed, or are no longer in memory. */
  resync(): void {
    this.pace.forgetDrawn();
    this.socket.startOver();
  }

  close(): void {
    this.pace.close();
    this.socket.close();
  }

  private receive(message: ServerMessage): void {
    switch (message.type) {
      case "view":
      case "frame":
      case "status":
        this.deliver(message);
        return;
      case "outcome":
        if (message.outcome.error) this.refusals.take(message.seq, message.outcome.error);
        this.lastResult = message.outcome.result ?? "";
        return;
      case "error":
        this.notices.show("error", message.message);
        return;
      case "ack":
        this.refusals.own(message.seq);
        return;
      case "gap": // A view follows.
      case "heartbeat":
      case "pong":
        return;
    }
  }

  /** A refused WebSocket gives no reason; REST does. */
  private checkSessionExists(): void {
    getSession(this.id).catch((error: unknown) => {
      if (!(error instanceof ApiError) || ![401, 403, 404].includes(error.status)) return;
      this.socket.close();
      this.state = "closed";
    });
  }
}
