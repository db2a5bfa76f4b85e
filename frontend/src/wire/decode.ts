import type { ServerMessage } from "./messages";

/** A binary message is zlib over JSON, a text message is JSON. */
export async function decodeMessage(data: ArrayBuffer | string): Promise<ServerMessage> {
  return JSON.parse(typeof data === "string" ? data : await inflate(data)) as ServerMessage;
}

/**
 * The text of packed bytes. All of it happens in microtasks of the task in which the message came. A `Response` over the stream is shorter,
 * and goes through a pipe of the browser: 2.5 ms later on an idle page, and a whole frame later where one was drawn in between.
 */
async function inflate(data: ArrayBuffer): Promise<string> {
  const inflating = new DecompressionStream("deflate");
  const writer = inflating.writable.getWriter();
  // What is wrong with the bytes is told to who reads.
  writer.write(new Uint8Array(data)).catch(() => undefined);
  writer.close().catch(() => undefined);
  const reader = inflating.readable.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += decoder.decode(part.value, { stream: true });
  return text + decoder.decode();
}

/** Decodes messages in the order in which they came, though each takes its own time. */
export class OrderedDecoder {
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly deliver: (message: ServerMessage) => void,
    private readonly fail: (error: unknown) => void,
  ) {}

  take(data: ArrayBuffer | string): void {
    const decoded = decodeMessage(data);
    decoded.catch(() => undefined); // Reported below, in its turn.
    this.last = this.last.then(async () => {
      try {
        this.deliver(await decoded);
      } catch (error) {
        this.fail(error);
      }
    });
  }
}
