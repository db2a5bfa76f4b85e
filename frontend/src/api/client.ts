import { type ChosenRelease, NEWEST_RELEASE } from "../model/sessions/releases";
import type { Progress } from "../wire/messages";
import type { ImportReport } from "./importReport";
import type { Follows } from "./agreement";
import { ApiError, BASE, call, csrfToken, errorOf } from "./call";

export { ApiError } from "./call";

/** A session as `GET sessions/` lists it. A missing member is unknown, which differs from 0. */
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
  /** When the last command was accepted. */
  lastCommandAt?: string | null;
  owner?: string | null;
  role?: "owner" | "editor" | "viewer";
  /** The user's own name if they are a member and can leave. */
  member?: string | null;
  /** The current number. */
  nodes?: number;
  pods?: number;
  /** Bytes stored in the database. */
  storedBytes?: number | null;
  forkedFrom?: ForkedFrom | null;
  follows?: Follows | null;
  /** What it was created from; of a lesson, its name is `lesson`. */
  source?: { lesson?: string };
  report?: ImportReport | null;
  /** The simulated release of kube-scheduler, and the feature gates that differ from its defaults. */
  release?: string;
  featureGates?: Record<string, boolean>;
}

/** The session that a fork was created from; `id` is null after that session was deleted. */
export interface ForkedFrom {
  id: string | null;
  name: string;
  event: number;
}

export interface Created {
  id: string;
  status: string;
}

/** The address of a session's page. */
export function pageOf(id: string): string {
  return `/s/${id}/`;
}

/** Filters and order of a list of sessions. */
export interface SessionQuery {
  /** A substring of the name. */
  part?: string;
  status?: string;
  /** `name`, `status`, `cycles` or `created`; a leading `-` reverses the order. */
  sort?: string;
  /** The number of sessions to skip. */
  offset?: number;
  limit: number;
}

export interface SessionPage {
  results: SessionSummary[];
  count: number;
}

export function listSessions({ part, status, sort, offset, limit }: SessionQuery): Promise<SessionPage> {
  const query = new URLSearchParams({ limit: String(limit), sizes: "1", ...(offset ? { offset: String(offset) } : {}) });
  for (const [name, value] of Object.entries({ q: part, status, sort })) if (value) query.set(name, value);
  return call("GET", `sessions/?${query.toString()}`);
}

export function renameSession(id: string, name: string): Promise<SessionSummary> {
  return call("PATCH", `sessions/${id}/`, { body: { name } });
}

export function cancelImport(id: string): Promise<SessionSummary> {
  return call("POST", `sessions/${id}/cancel/`);
}

export function getSession(id: string): Promise<SessionSummary> {
  return call("GET", `sessions/${id}/`);
}

export function deleteSession(id: string): Promise<void> {
  return call("DELETE", `sessions/${id}/`);
}

export function generateSession(generate: Record<string, unknown>, name: string, release: ChosenRelease): Promise<Created> {
  return call("POST", "sessions/", { body: { generate, ...(name ? { name } : {}), ...(release ? { release } : {}) } });
}

export interface Upload {
  done: Promise<Created>;
  cancel(): void;
}

/** Upload files as one new session. `progress` receives the uploaded share, between 0 and 1. */
export function uploadSession(files: readonly File[], release: ChosenRelease, progress: (share: number) => void): Upload {
  const upload = new XMLHttpRequest();
  const done = new Promise<Created>((resolve, reject) => {
    const form = new FormData();
    for (const file of files) form.append("file", file, file.name);
    if (release) form.append("release", release);
    form.append("releaseWithoutVersion", NEWEST_RELEASE);
    upload.open("POST", `${BASE}sessions/`);
    upload.setRequestHeader("X-CSRFToken", csrfToken());
    upload.setRequestHeader("Accept", "application/json");
    upload.upload.onprogress = (event) => {
      if (event.lengthComputable) progress(event.loaded / event.total);
    };
    upload.onload = () => {
      if (upload.status < 300) resolve(JSON.parse(upload.responseText) as Created);
      else reject(errorOf(upload.status, upload.responseText));
    };
    upload.onerror = () => {
      reject(new ApiError(0, ""));
    };
    upload.onabort = () => {
      reject(new DOMException("cancelled", "AbortError"));
    };
    upload.send(form);
  });
  return {
    done,
    cancel() {
      upload.abort();
    },
  };
}

/** A sample case that ships with schedviz. */
export interface SampleSummary {
  name: string;
  description: string;
}

export function listSamples(): Promise<{ results: SampleSummary[] }> {
  return call("GET", "samples/");
}

/** Create a session of a sample case. */
export async function openSample(name: string, title = name): Promise<SessionSummary> {
  return call("POST", "sessions/", { body: { trace: await call<unknown>("GET", `samples/${name}/`), name: title } });
}
