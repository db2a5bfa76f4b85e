import { call } from "./call";
import type { SessionSummary } from "./client";
import type { Answer, LessonQuestion, Words } from "./lessons";

/** Where the teacher is; docs/rooms.md says what each member means. */
export interface Moment {
  session: string;
  at: number | null;
  select: string;
  tab: string;
  panel: string;
  zoom: number | null;
  x: number | null;
  y: number | null;
  stop: string;
  page: Record<string, string>;
}

export type QuestionKind = "choice" | "number" | "node" | "nodes" | "pod" | "text";

export interface RoomQuestion {
  n: number;
  /** Of a lesson; "": a question of the teacher's own, in `text`. */
  stop: string;
  text: string;
  kind: QuestionKind;
  options: string[];
  open: boolean;
  revealed: boolean;
  askedAt: string;
  answered: number;
  /** Null for who is not to know yet. */
  right: string | null;
  tally: { value: string; count: number }[] | null;
}

export interface RoomFork {
  session: string;
  name: string;
  at: number;
  createdAt: string;
}

/** A participant, as the teacher sees them. */
export interface Participant {
  id: number;
  nickname: string;
  here: boolean;
  following: boolean;
  hand: boolean;
  handAt: string | null;
  joinedAt: string;
  answers: Record<string, string>;
  forks: RoomFork[];
}

export interface Room {
  id: string;
  title: string;
  role: "teacher" | "participant";
  status: "open" | "locked" | "ended";
  session: string | null;
  shown: { session: string; participant: string } | null;
  lesson: string;
  teacher: string;
  createdAt: string;
  endedAt: string | null;
  kept: boolean;
  code: string;
  link: string;
  moment: Moment | null;
  count: number;
  here: number;
  questions: RoomQuestion[];
  you: { id: number; nickname: string; hand: boolean; answers: Record<string, string>; forks: RoomFork[] } | null;
  participants: Participant[] | null;
}

/** A room in the list of a teacher's. */
export interface RoomLine {
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

/** What a teacher asks: the question of a stop of the lesson, or one of their own. */
export type NewQuestion = { stop: string } | { text: string; kind: QuestionKind; options: string[] };

export async function listRooms(): Promise<RoomLine[]> {
  return (await call<{ results: RoomLine[] }>("GET", "rooms/")).results;
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

export const qrAddress = (id: string): string => `/api/v1/rooms/${id}/qr/`;
export const recordAddress = (id: string): string => `/api/v1/rooms/${id}/record/`;

/** The text as HTML that shows just that. */
const plain = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
const same = (html: string): Words => ({ en: html, "zh-CN": html });

/** A question of the teacher's own, as lessons have questions. */
export function ownQuestion(question: RoomQuestion): LessonQuestion {
  const options = question.options.map((option) => ({ id: option, words: same(plain(option)) }));
  return { ask: question.kind, words: same(`<p>${plain(question.text)}</p>`), hint: same(""), options };
}

/** An answer as rooms write it: names of several nodes with commas. */
export function answerText(answer: Answer): string {
  return typeof answer === "object" ? [...answer].sort().join(",") : String(answer);
}
