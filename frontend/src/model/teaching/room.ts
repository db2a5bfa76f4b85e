/** What the teacher's page shows: a moment of a session (`at`), the selection and the view options. docs/rooms.md describes each member. */
export interface RoomMoment {
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
  /** The question of a lesson's stop; "": the teacher's own, in `text`. */
  stop: string;
  text: string;
  kind: QuestionKind;
  options: string[];
  open: boolean;
  revealed: boolean;
  askedAt: string;
  answered: number;
  /** Null for participants who may not know the answer yet. */
  right: string | null;
  tally: { value: string; count: number }[] | null;
}

export interface RoomFork {
  session: string;
  name: string;
  at: number;
  createdAt: string;
}

/** A participant, with the details that only the teacher sees. */
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
  moment: RoomMoment | null;
  count: number;
  here: number;
  questions: RoomQuestion[];
  you: { id: number; nickname: string; hand: boolean; answers: Record<string, string>; forks: RoomFork[] } | null;
  participants: Participant[] | null;
}
