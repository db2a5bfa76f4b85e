import type { ServerMessage } from "./messages";

/** Binary messages are zlib-compressed JSON, text messages JSON. */
export async function decodeMessage(data: ArrayBuffer | string): Promise<ServerMessage> {
  return JSON.parse(typeof data === "string" ? data : await inflate(data)) as ServerMessage;
}

/**
 * Decompresses within microtasks of the task that received the message. A `Response` around the stream would be shorter,
 * but uses a pipe of the browser: 2.5 ms later on an idle page, and a whole frame later if one was drawn in between.
 */
async function inflate(data: ArrayBuffer): Promise<string> {
  const inflating = new DecompressionStream("deflate");
  const writer = inflating.writable.getWriter();
  // Errors in the data are reported to the reader.
  writer.write(new Uint8Array(data)).catch(() => undefined);
  writer.close().catch(() => undefined);
  const reader = inflating.readable.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += decoder.decode(part.value, { stream: true });
  return text + decoder.decode();
}

/** Decodes messages in the order of arrival, though each takes its own time. */
export class OrderedDecoder {
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly deliver: (message: ServerMessage) => void,
    private readonly fail: (error: unknown) => void,
  ) {}

  take(data: ArrayBuffer | string): void {
    const decoded = decodeMessage(data);
    decoded.catch(() => undefined); // Reported below, in order.
    this.last = this.last.then(async () => {
      try {
        this.deliver(await decoded);
      } catch (error) {
        this.fail(error);
      }
    });
  }
}
