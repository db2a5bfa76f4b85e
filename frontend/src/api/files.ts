import { ApiError, BASE, errorOf } from "./call";

/** A downloaded file, with the name that the server gives it. */
export interface Fetched {
  blob: Blob;
  name: string;
}

/** Download a file in parts; `onProgress` is called with the bytes received so far. Throws an `ApiError`, or an AbortError if the signal aborts. */
export async function fetchFile(path: string, signal: AbortSignal, onProgress: (bytes: number) => void): Promise<Fetched> {
  const response = await fetch(BASE + path, { signal, credentials: "same-origin", headers: { Accept: "*/*" } }).catch((error: unknown) => {
    if (error instanceof DOMException) throw error;
    throw new ApiError(0, "");
  });
  if (!response.ok) throw errorOf(response.status, await response.text());
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const reader = response.body!.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    pieces.push(read.value as Uint8Array<ArrayBuffer>);
    onProgress((bytes += read.value.length));
  }
  return { blob: new Blob(pieces, { type: response.headers.get("Content-Type") ?? "" }), name: nameIn(response.headers.get("Content-Disposition") ?? "") };
}

function nameIn(disposition: string): string {
  const [, encoded] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? [];
  if (encoded) return decodeURIComponent(encoded);
  return /filename="?([^";]+)"?/i.exec(disposition)?.[1] ?? "session";
}

/** The part of a session that a trace covers. */
export interface TraceWindow {
  /** The event with whose objects the trace begins; null: the start of the session. */
  from: number | null;
  to: number;
  /** Include what was observed. */
  observed: boolean;
}

export function exportPath(session: string, trace: TraceWindow | null): string {
  if (!trace) return `sessions/${session}/export/`;
  const query = new URLSearchParams({ format: "trace", to: String(trace.to) });
  if (trace.from !== null) query.set("from", String(trace.from));
  if (trace.observed) query.set("observed", "1");
  return `sessions/${session}/export/?${query.toString()}`;
}
