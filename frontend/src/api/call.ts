/** One request to REST, and what a refusal says: in words, where, and what to do. */

import { passHeaders } from "./pass";

/** Where something is wrong, what was expected and found there, and what to do; what is known of it. */
export interface ErrorDetail {
  /** What kind of error it is: one of few English sentences, which other languages have, too. */
  title?: string;
  path?: string;
  expected?: string;
  found?: string;
  hint?: string;
  /** From 1, in a text. */
  column?: number;
}

/** What the server said was wrong, in its own words: `message` has the hint in it, `sentence` has not. Status 0: it did not answer. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly sentence: string,
    readonly code = "",
    readonly detail: ErrorDetail = {},
  ) {
    super(detail.hint ? `${sentence}\n${detail.hint}` : sentence);
  }
}

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

export const BASE = "/api/v1/";

/** One call. Throws an `ApiError`; an abort stays an AbortError. */
export async function call<T>(method: string, path: string, { body, headers = {}, signal }: CallOptions = {}): Promise<T> {
  const sent: Record<string, string> = { Accept: "application/json", ...passHeaders(), ...headers };
  if (method !== "GET") sent["X-CSRFToken"] = csrfToken();
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(BASE + path, {
      method,
      headers: sent,
      credentials: "Authorization" in sent ? "omit" : "same-origin",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "");
  }
  const text = await response.text();
  if (!response.ok) throw errorOf(response.status, text);
  return (text ? JSON.parse(text) : undefined) as T;
}

/** The error that an answer is: RFC 9457's problem details, with members of ours. */
export function errorOf(status: number, text: string): ApiError {
  let problem: ErrorDetail & { code?: unknown; detail?: unknown } = {};
  try {
    problem = (JSON.parse(text) ?? {}) as typeof problem;
  } catch {
    // Not ours: a proxy's page, or nothing.
  }
  const { code, detail, title, path, expected, found, hint, column } = problem;
  if (typeof code !== "string" || typeof detail !== "string") return new ApiError(status, wordsIn(status, text));
  return new ApiError(status, detail, code, { title, path, expected, found, hint, column });
}

/** The words of an answer that is not ours: a `detail`, a `message`, else every sentence that is in it. */
function wordsIn(status: number, text: string): string {
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
    if (message) return sentences(message);
    if (detail) return sentences(detail);
    return Object.entries(rest).flatMap(([key, inner]) => sentences(inner).map((sentence) => `${key}: ${sentence}`));
  }
  return [];
}

export function csrfToken(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? "";
}
