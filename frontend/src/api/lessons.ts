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
}

export interface CoursePart {
  part: string;
  lessons: LessonLine[];
}

export interface LessonQuestion {
  ask: "choice" | "number" | "node" | "nodes" | "pod";
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
}

export function getCourse(): Promise<{ parts: CoursePart[] }> {
  return call("GET", "lessons/");
}

export function getLesson(session: string): Promise<Lesson> {
  return call("GET", `sessions/${session}/lesson/`);
}

/** A session for a lesson. It is `importing` until its engine is there. */
export function beginLesson(lesson: string): Promise<SessionSummary> {
  return call("POST", "sessions/", { body: { lesson } });
}
