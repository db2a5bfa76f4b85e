import type { ServerMessage } from "./messages";

/** A binary message is zlib over JSON, a text message is JSON. */
export async function decodeMessage(data: ArrayBuffer | string): Promise<ServerMessage> {
  if (typeof data === "string") return JSON.parse(data) as ServerMessage;
  const inflating = new DecompressionStream("deflate");
  const writer = inflating.writable.getWriter();
  // What is wrong with the bytes is told to who reads.
  writer.write(new Uint8Array(data)).catch(() => undefined);
  writer.close().catch(() => undefined);
  return (await new Response(inflating.readable).json()) as ServerMessage;
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
