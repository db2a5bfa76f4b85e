/** Sends one REST request, and represents problem details (RFC 9457) as an error. */

import { linkHeaders } from "./shareLink";

/** What is known of an invalid member: its path, what was expected, what was found, and a hint. */
export interface ErrorDetail {
  /** The problem's title: one of a fixed set of English sentences, which are translated. */
  title?: string;
  path?: string;
  expected?: string;
  found?: string;
  hint?: string;
  /** One-based position in a text. */
  column?: number;
}

/** An error response. `message` includes the hint, `sentence` does not. Status 0: the server did not respond. */
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

/** The name of a node, or `namespace/name` of a pod, for the path of a URL. */
export function pathOf(name: string): string {
  return name.split("/").map(encodeURIComponent).join("/");
}

/** Send one request. Throws an `ApiError`; an abort throws an AbortError. */
export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const text = await callText(method, path, options);
  return (text ? JSON.parse(text) : undefined) as T;
}

/** As `call`, for a response that is a text. */
export async function callText(method: string, path: string, options: CallOptions = {}): Promise<string> {
  return (await send(method, path, options)).text();
}

/** As `call`, for a response of any media type. */
export async function callBlob(method: string, path: string, options: CallOptions = {}): Promise<Blob> {
  return (await send(method, path, { ...options, headers: { Accept: "*/*", ...options.headers } })).blob();
}

/** How often a request is repeated that only reads and that a busy server refused. */
const MAX_RETRIES = 5;

async function send(method: string, path: string, options: CallOptions): Promise<Response> {
  for (let retries = 0; ; retries += 1) {
    const response = await sendOnce(method, path, options);
    if (response.ok) return response;
    const error = errorOf(response.status, await response.text());
    if (method !== "GET" || error.code !== "busy" || retries === MAX_RETRIES) throw error;
    const seconds = Number(response.headers.get("Retry-After")) || 2;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000 * (0.75 + Math.random() / 2)));
    options.signal?.throwIfAborted();
  }
}

async function sendOnce(method: string, path: string, { body, headers = {}, signal }: CallOptions): Promise<Response> {
  const sent: Record<string, string> = { Accept: "application/json", ...linkHeaders(), ...headers };
  if (method !== "GET") sent["X-CSRFToken"] = csrfToken();
  if (body !== undefined) sent["Content-Type"] = "application/json";
  try {
    return await fetch(BASE + path, {
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
}

/** The error of a response: RFC 9457 problem details with schedviz's additional members. */
export function errorOf(status: number, text: string): ApiError {
  let problem: ErrorDetail & { code?: unknown; detail?: unknown } = {};
  try {
    problem = (JSON.parse(text) ?? {}) as typeof problem;
  } catch {
    // Not JSON of schedviz: a proxy's page, or an empty body.
  }
  const { code, detail, title, path, expected, found, hint, column } = problem;
  if (typeof code !== "string" || typeof detail !== "string") return new ApiError(status, wordsIn(status, text));
  return new ApiError(status, detail, code, { title, path, expected, found, hint, column });
}

/** The text of an error response that another program wrote: its `detail`, its `message`, or all strings in it. */
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
