import type { AnyCommand } from "../model/generated";
import type { Thumbnail } from "../model/thumbnail";
import { call } from "./call";
import { openSample, pageOf } from "./client";

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

/** Create a session of a case. Returns the address of its answer. */
export async function openCase({ name, pod }: EverydayCase, title: string): Promise<string> {
  const { id } = await openSample(name, title);
  return `${pageOf(id)}?select=pod:${pod}&tab=why&case=${name}`;
}
