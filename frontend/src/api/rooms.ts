import { call } from "./call";
import type { SessionSummary } from "./client";
import type { QuestionKind, Room, RoomQuestion } from "../model/teaching/room";
import type { Answer, LessonQuestion, LocalizedHtml } from "./lessons";

/** A room in a teacher's list. */
export interface RoomSummary {
  id: string;
  title: string;
  status: Room["status"];
  session: string | null;
  code: string;
  count: number;
  createdAt: string;
  endedAt: string | null;
  kept: boolean;
}

/** A question that a teacher asks: that of a lesson's stop, or one of their own. */
export type NewQuestion = { stop: string } | { text: string; kind: QuestionKind; options: string[] };

export async function listRooms(): Promise<RoomSummary[]> {
  return (await call<{ results: RoomSummary[] }>("GET", "rooms/")).results;
}

export function openRoom(of: { session: string } | { lesson: string }): Promise<Room> {
  return call("POST", "rooms/", { body: of });
}

export function joinRoom(code: string, nickname: string): Promise<Room> {
  return call("POST", "rooms/join/", { body: { code, nickname } });
}

export function changeRoom(id: string, change: { locked: boolean }): Promise<Room> {
  return call("PATCH", `rooms/${id}/`, { body: change });
}

export function newCode(id: string): Promise<Room> {
  return call("POST", `rooms/${id}/code/`);
}

export function showFork(id: string, session: string | null): Promise<Room> {
  return call("POST", `rooms/${id}/show/`, { body: { session } });
}

export function endRoom(id: string, keep: boolean): Promise<Room> {
  return call("POST", `rooms/${id}/end/`, { body: { keep } });
}

export function deleteRoom(id: string): Promise<void> {
  return call("DELETE", `rooms/${id}/`);
}

export function ask(id: string, question: NewQuestion): Promise<Room> {
  return call("POST", `rooms/${id}/questions/`, { body: question });
}

export function changeQuestion(id: string, n: number, change: { open?: boolean; revealed?: boolean; right?: string }): Promise<Room> {
  return call("PATCH", `rooms/${id}/questions/${n}/`, { body: change });
}

export function sendAnswer(id: string, question: number, value: string): Promise<Room> {
  return call("POST", `rooms/${id}/answers/`, { body: { question, value } });
}

export function raiseHand(id: string, raised: boolean): Promise<Room> {
  return call("POST", `rooms/${id}/hand/`, { body: { raised } });
}

export function leaveRoom(id: string): Promise<void> {
  return call("POST", `rooms/${id}/leave/`);
}

export function forkInRoom(id: string, fork: { session: string; at: number; key: string }): Promise<SessionSummary> {
  return call("POST", `rooms/${id}/forks/`, { body: fork });
}

export function lowerHand(id: string, participant: number): Promise<Room> {
  return call("PATCH", `rooms/${id}/participants/${participant}/`, { body: { hand: false } });
}

export function removeParticipant(id: string, participant: number): Promise<void> {
  return call("DELETE", `rooms/${id}/participants/${participant}/`);
}

/** The QR code of a room. A page adds the room's code as a fragment, so that a new code is a new address. */
export const qrAddress = (id: string): string => `/api/v1/rooms/${id}/qr/`;
export const recordAddress = (id: string): string => `/api/v1/rooms/${id}/record/`;

/** The text as HTML that displays it verbatim. */
const plain = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
const same = (html: string): LocalizedHtml => ({ en: html, "zh-CN": html });

/** A teacher's own question in the form of a lesson's question. */
export function ownQuestion(question: RoomQuestion): LessonQuestion {
  const options = question.options.map((option) => ({ id: option, words: same(plain(option)) }));
  return { ask: question.kind, words: same(`<p>${plain(question.text)}</p>`), hint: same(""), options };
}

/** An answer in the form that rooms use: names of several nodes are separated by commas. */
export function answerText(answer: Answer): string {
  return typeof answer === "object" ? [...answer].sort().join(",") : String(answer);
}
