import type { AnyCommand } from "../model/generated";
import { call } from "./call";
import type { SessionSummary } from "./client";

/** A text in every language, as HTML that the server made safe. */
export type Words = Record<"en" | "zh-CN", string>;

export interface LessonLine {
  name: string;
  minutes: number;
  stops: number;
  title: Words;
  about: Words;
  /** The newest session that you took it in, and how many of its stops are behind you there. */
  session: string | null;
  done: number;
  /** The stop that you were at last, wherever it was; "": none is known. And whether you ever came to the end. */
  stop: string;
  finished: boolean;
}

export interface CoursePart {
  part: string;
  lessons: LessonLine[];
}

export interface LessonQuestion {
  ask: "choice" | "number" | "node" | "nodes" | "pod" | "text";
  words: Words;
  hint: Words;
  options: { id: string; words: Words }[];
}

/** What somebody answers, and what the engine does: a name, a number, names. */
export type Answer = string | number | readonly string[];

export interface LessonStop {
  id: string;
  /** The event at which a session on the path is when one has arrived, and when the answer is known. */
  arrived: number;
  revealed: number;
  do: AnyCommand[];
  reveal: AnyCommand[];
  highlight: string[];
  text: Words;
  notes: Words;
  question: LessonQuestion | null;
  answer: { value: Answer; words: Words } | null;
  /** There are hints that depend on how things are. */
  hints: boolean;
}

/** How far you are in a lesson. */
export interface LessonProgress {
  stop: string;
  session: string | null;
  answers: Record<string, Answer>;
  finished: boolean;
}

export interface Lesson {
  name: string;
  title: Words;
  about: Words;
  takeHome: Words[];
  upstream: { file: string; symbol: string }[];
  stops: LessonStop[];
  /** The next lesson of the course; "": this is the last. */
  next: string;
  /** Of the lesson's files; and whether they are others than when the session was made. */
  version: string;
  changed: boolean;
  /** It is none of those that ship, and may be changed at any time. */
  own: boolean;
  progress: LessonProgress | null;
}

/** Something that is said because of how things are. */
export interface LiveHint {
  id: string;
  words: Words;
}

export function getCourse(): Promise<{ parts: CoursePart[] }> {
  return call("GET", "lessons/");
}

export function getLesson(session: string): Promise<Lesson> {
  return call("GET", `sessions/${session}/lesson/`);
}

/** A session for a lesson, called by its title as the visitor reads it. It is `importing` until its engine is there. */
export function beginLesson(lesson: string, name: string): Promise<SessionSummary> {
  return call("POST", "sessions/", { body: { lesson, name } });
}

/** Which hints of a stop hold in the newest state. */
export async function getHints(session: string, stop: string, signal: AbortSignal): Promise<LiveHint[]> {
  return (await call<{ hints: LiveHint[] }>("GET", `sessions/${session}/lesson/hints/?stop=${stop}`, { signal })).hints;
}

/** Remember how far somebody who is logged in has got. */
export function keepProgress(lesson: string, progress: LessonProgress): Promise<LessonProgress> {
  return call("PUT", `lessons/${lesson}/progress/`, { body: progress });
}

/** The version of a lesson's files as they are now, and why they cannot be read. */
export function getLessonVersion(lesson: string, signal: AbortSignal): Promise<{ version: string; own: boolean; faults: string[] }> {
  return call("GET", `lessons/${lesson}/`, { signal });
}

/** Where a lesson begins at a stop: for whoever opens it, in a session of their own. */
export function addressOf(lesson: string, stop = ""): string {
  return `/lessons/?begin=${lesson}${stop ? `&stop=${stop}` : ""}`;
}

/** A session as a lesson that is to be written: a stop for each of the moments, or after each command. */
export function draftPath(session: string, name: string, moments: readonly number[]): string {
  return `sessions/${session}/lesson/draft/?name=${encodeURIComponent(name)}${moments.length ? `&at=${moments.join(",")}` : ""}`;
}
