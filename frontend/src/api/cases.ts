import type { AnyCommand } from "../model/generated";
import type { Thumbnail } from "../model/thumbnail";
import { call } from "./call";
import { pageOf } from "./client";

/** An everyday case: a small cluster in which one pod waits. Its texts are English, and keys of translations. */
export interface EverydayCase {
  name: string;
  title: string;
  seen: string;
  fix: string;
  pod: string;
  reason: string;
  commands: AnyCommand[];
  thumbnail: Thumbnail;
}

export async function listCases(): Promise<EverydayCase[]> {
  return (await call<{ results: EverydayCase[] }>("GET", "cases/")).results;
}

/** The address of a case's answer in a session of it. */
export function addressOfCase({ name, pod }: EverydayCase, session: string): string {
  return `${pageOf(session)}?select=pod:${pod}&tab=why&case=${name}`;
}
