import type { AnyCommand } from "../model/generated";
import { call } from "./call";
import type { SessionSummary } from "./client";

/** A text in every language, as HTML that the server sanitized. */
export type LocalizedHtml = Record<"en" | "zh-CN", string>;

export interface LessonSummary {
  name: string;
  /** The release of kube-scheduler that it teaches. */
  release: string;
  minutes: number;
  stops: number;
  title: LocalizedHtml;
  about: LocalizedHtml;
  /** The user's newest session of the lesson, and how many of its stops they have passed. */
  session: string | null;
  done: number;
  /** The user's last stop in any session; "": unknown. And whether they ever finished the lesson. */
  stop: string;
  finished: boolean;
}

export interface CoursePart {
  part: string;
  lessons: LessonSummary[];
}

export interface LessonQuestion {
  ask: "choice" | "number" | "node" | "nodes" | "pod" | "text";
  words: LocalizedHtml;
  hint: LocalizedHtml;
  options: { id: string; words: LocalizedHtml }[];
}

/** A participant's answer, or the engine's result: a name, a number, or names. */
export type Answer = string | number | readonly string[];

export interface LessonStop {
  id: string;
  /** The events on the lesson's path at which the stop is reached, and at which its answer is known. */
  arrived: number;
  revealed: number;
  do: AnyCommand[];
  reveal: AnyCommand[];
  highlight: string[];
  text: LocalizedHtml;
  notes: LocalizedHtml;
  question: LessonQuestion | null;
  answer: { value: Answer; words: LocalizedHtml } | null;
  /** The stop has hints that depend on the state. */
  hints: boolean;
}

/** The user's progress in a lesson. */
export interface LessonProgress {
  stop: string;
  session: string | null;
  answers: Record<string, Answer>;
  finished: boolean;
}

/** What is different in another release, and the stops with another answer there. */
export interface LessonDifference {
  release: string;
  words: LocalizedHtml;
  stops: string[];
}

export interface Lesson {
  name: string;
  /** The release of kube-scheduler that it teaches. */
  release: string;
  title: LocalizedHtml;
  about: LocalizedHtml;
  takeHome: LocalizedHtml[];
  upstream: { file: string; symbol: string }[];
  differences: LessonDifference[];
  stops: LessonStop[];
  /** The next lesson of the course; "": this is the last one. */
  next: string;
  /** The version of the lesson's files, and whether they changed since the session was created. */
  version: string;
  changed: boolean;
  /** Not a built-in lesson: its files may change at any time. */
  own: boolean;
  progress: LessonProgress | null;
}

/** A hint that is shown in certain states. */
export interface LiveHint {
  id: string;
  words: LocalizedHtml;
}

export function getCourse(): Promise<{ parts: CoursePart[] }> {
  return call("GET", "lessons/");
}

export function getLesson(session: string): Promise<Lesson> {
  return call("GET", `sessions/${session}/lesson/`);
}

/** Create a session for a lesson, named by its title in the visitor's language. It is `importing` until its engine is ready. */
export function beginLesson(lesson: string, name: string): Promise<SessionSummary> {
  return call("POST", "sessions/", { body: { lesson, name } });
}

/** The hints of a stop that hold in the newest state. */
export async function getHints(session: string, stop: string, signal: AbortSignal): Promise<LiveHint[]> {
  return (await call<{ hints: LiveHint[] }>("GET", `sessions/${session}/lesson/hints/?stop=${stop}`, { signal })).hints;
}

/** Store a logged-in user's progress. */
export function keepProgress(lesson: string, progress: LessonProgress): Promise<LessonProgress> {
  return call("PUT", `lessons/${lesson}/progress/`, { body: progress });
}

/** The current version of a lesson's files, and why they cannot be parsed. */
export function getLessonVersion(lesson: string, signal: AbortSignal): Promise<{ version: string; own: boolean; faults: string[] }> {
  return call("GET", `lessons/${lesson}/`, { signal });
}

/** The address that starts a lesson at a stop, in the visitor's own session. */
export function addressOf(lesson: string, stop = ""): string {
  return `/lessons/?begin=${lesson}${stop ? `&stop=${stop}` : ""}`;
}

/** A lesson draft made from a session, with a stop for each moment, or after each command. */
export function draftPath(session: string, name: string, moments: readonly number[]): string {
  return `sessions/${session}/lesson/draft/?name=${encodeURIComponent(name)}${moments.length ? `&at=${moments.join(",")}` : ""}`;
}
