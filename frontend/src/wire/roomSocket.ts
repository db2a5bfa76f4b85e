import type { RoomMoment, Room } from "../model/teaching/room";
import { ReconnectingSocket, type ConnectionState, type OpenSocket } from "./reconnectingSocket";

export type RoomMessage =
  | { type: "room"; room: Room }
  | { type: "moment"; moment: RoomMoment | null }
  | { type: "error"; code: string; message: string }
  | { type: "heartbeat" }
  | { type: "pong" };

/** What a page reports to its room. */
export type Report = { type: "moment"; moment: RoomMoment } | { type: "following"; following: boolean };

export interface RoomEvents {
  message(message: RoomMessage): void;
  /** `code`: the close code; 0: the connection is not closed. */
  stateChanged(state: ConnectionState, code: number): void;
}

/** The connection to a room: sends the newest reports again when it reconnects. */
export class RoomSocket {
  private readonly socket: ReconnectingSocket;
  /** The newest report of each type. */
  private readonly reports = new Map<Report["type"], Report>();

  constructor(url: string, events: RoomEvents, open?: OpenSocket) {
    this.socket = new ReconnectingSocket(
      {
        url: () => url,
        opened: () => {
          for (const report of this.reports.values()) this.socket.send(report);
        },
        received: (data) => {
          const message = JSON.parse(data as string) as RoomMessage;
          this.socket.succeeded();
          events.message(message);
        },
        stateChanged: (state, code) => {
          events.stateChanged(state, code);
        },
      },
      open,
    );
  }

  connect(): void {
    this.socket.connect();
  }

  /** Report the shown moment, or whether the page follows. A report that changes nothing is not sent. */
  report(report: Report): void {
    if (JSON.stringify(this.reports.get(report.type)) === JSON.stringify(report)) return;
    this.reports.set(report.type, report);
    this.socket.send(report);
  }

  close(): void {
    this.socket.close();
  }
}
