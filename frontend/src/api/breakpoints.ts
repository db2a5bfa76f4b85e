import { call } from "./call";

/** A breakpoint of a session. `hits`: how many runs it stopped; `lastEvent`: the event of the last hit. */
export interface Breakpoint {
  number: number;
  when: string;
  enabled: boolean;
  hits: number;
  lastEvent: number | null;
}

/** Breakpoints by number; `most`: the highest number allowed. */
export function listBreakpoints(id: string): Promise<{ results: Breakpoint[]; most: number }> {
  return call("GET", `sessions/${id}/breakpoints/`);
}

export function addBreakpoint(id: string, when: string): Promise<Breakpoint> {
  return call("POST", `sessions/${id}/breakpoints/`, { body: { when } });
}

export function changeBreakpoint(id: string, number: number, change: { when?: string; enabled?: boolean }): Promise<Breakpoint> {
  return call("PATCH", `sessions/${id}/breakpoints/${number}/`, { body: change });
}

export function deleteBreakpoint(id: string, number: number): Promise<void> {
  return call("DELETE", `sessions/${id}/breakpoints/${number}/`);
}
