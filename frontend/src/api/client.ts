import type { AnyCommand } from "../model/generated";
import type { ImportReport, Progress } from "../wire/messages";

/** A session as `GET sessions/` lists it. A member that is missing is unknown, which is not 0. */
export interface SessionSummary {
  id: string;
  name: string;
  status: string;
  message?: string;
  progress?: Progress | null;
  cycle?: number;
  event?: number;
  clockSeconds?: number;
  createdAt?: string;
  report?: ImportReport | null;
}

export interface Created {
  id: string;
  status: string;
}

/** Where a session's page is. */
export function pageOf(id: string): string {
  return `/s/${id}/`;
}

/** What the server said was wrong, in its own words. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const BASE = "/api/v1/";

/** The newest sessions first; `more` says that there are others. */
export async function listSessions(): Promise<{ sessions: SessionSummary[]; more: boolean }> {
  const { results, next } = await request<{ results: SessionSummary[]; next?: string | null }>("GET", "sessions/?limit=200");
  return { sessions: results, more: Boolean(next) };
}

export function getSession(id: string): Promise<SessionSummary> {
  return request("GET", `sessions/${id}/`);
}

export function deleteSession(id: string): Promise<void> {
  return request("DELETE", `sessions/${id}/`);
}

export function generateSession(generate: Record<string, unknown>, name: string): Promise<Created> {
  return request("POST", "sessions/", { generate, ...(name ? { name } : {}) });
}

/** The full record of a cycle, as FORMAT.md's `cycle`: made again by replay, so it may take a moment. */
export function getCycle(id: string, cycle: number, signal?: AbortSignal): Promise<CycleDetail> {
  return request("GET", `sessions/${id}/cycles/${cycle}/`, undefined, signal);
}

export function postCommand(id: string, key: string, command: AnyCommand): Promise<{ seq: number }> {
  return request("POST", `sessions/${id}/commands/`, { key, ...command });
}

export interface CycleDetail {
  pod: string;
  outcome: string;
  node?: string;
  feasible?: string[];
  filter?: { node: string; plugin: string; code: string; reasons: string[] }[];
  scores?: Record<string, { weight: number; raw: Record<string, number>; normalized: Record<string, number>; weighted: Record<string, number> }> | null;
  totals?: Record<string, number> | null;
  tied?: string[];
  [other: string]: unknown;
}

export interface Upload {
  done: Promise<Created>;
  cancel(): void;
}

/** Upload files as one new session. `progress` gets the share that was sent, between 0 and 1. */
export function uploadSession(files: readonly File[], progress: (share: number) => void): Upload {
  const call = new XMLHttpRequest();
  const done = new Promise<Created>((resolve, reject) => {
    const form = new FormData();
    for (const file of files) form.append("file", file, file.name);
    call.open("POST", `${BASE}sessions/`);
    call.setRequestHeader("X-CSRFToken", csrfToken());
    call.setRequestHeader("Accept", "application/json");
    call.upload.onprogress = (event) => {
      if (event.lengthComputable) progress(event.loaded / event.total);
    };
    call.onload = () => {
      if (call.status < 300) resolve(JSON.parse(call.responseText) as Created);
      else reject(new ApiError(call.status, messageOf(call.status, call.responseText)));
    };
    call.onerror = () => {
      reject(new ApiError(0, ""));
    };
    call.onabort = () => {
      reject(new DOMException("cancelled", "AbortError"));
    };
    call.send(form);
  });
  return {
    done,
    cancel() {
      call.abort();
    },
  };
}

/** One call. Throws an `ApiError` with the server's words; status 0: no answer. */
export async function request<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRFToken"] = csrfToken();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(BASE + path, {
      method,
      headers,
      credentials: "same-origin",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "");
  }
  const text = await response.text();
  if (!response.ok) throw new ApiError(response.status, messageOf(response.status, text));
  return (text ? JSON.parse(text) : undefined) as T;
}

/** The words of an error answer: a `detail`, a `message`, else every sentence that is in it. */
export function messageOf(status: number, text: string): string {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return text.length > 0 && text.length < 500 && !text.startsWith("<") ? text : `HTTP ${status}`;
  }
  return sentences(answer).join("\n") || `HTTP ${status}`;
}

function sentences(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(sentences);
  if (typeof value === "object" && value !== null) {
    const { error, detail, message, ...rest } = value as Record<string, unknown>;
    if (error) return sentences(error);
    if (message) return [...sentences(message), ...hintIn(detail)];
    if (detail) return sentences(detail);
    return Object.entries(rest).flatMap(([key, inner]) => sentences(inner).map((sentence) => `${key}: ${sentence}`));
  }
  return [];
}

/** What to do about it, where the server says so. */
function hintIn(detail: unknown): string[] {
  const hint = typeof detail === "object" && detail !== null ? (detail as Record<string, unknown>)["hint"] : undefined;
  return typeof hint === "string" ? [hint] : [];
}

function csrfToken(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? "";
}
