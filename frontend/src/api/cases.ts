import type { AnyCommand } from "../model/generated";
import type { Thumbnail } from "../model/sessions/thumbnail";
import { call } from "./call";
import { pageOf } from "./client";

/** An everyday case: a small cluster in which one pod waits. Its texts are English, and keys of translations. */
export interface EverydayCase {
  name: string;
  title: string;
  seen: string;
  fix: string;
  /** What the commands do, as on a button. */
  action: string;
  pod: string;
  reason: string;
  commands: AnyCommand[];
  thumbnail: Thumbnail;
}

let cases: Promise<EverydayCase[]> | undefined;

/** The cases, which are those of the server's version: a page asks for them once. */
export function listCases(): Promise<EverydayCase[]> {
  cases ??= call<{ results: EverydayCase[] }>("GET", "cases/").then(
    ({ results }) => results,
    (error: unknown) => {
      cases = undefined;
      throw error;
    },
  );
  return cases;
}

/** The address of a case's answer in a session of it. */
export function addressOfCase({ name, pod }: EverydayCase, session: string): string {
  return `${pageOf(session)}?select=pod:${pod}&tab=why&case=${name}`;
}
