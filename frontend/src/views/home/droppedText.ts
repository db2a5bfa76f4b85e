/** The text of a dropped file, to tell whether it has messages alone. */
import { textOfFile } from "../../api/explainText";

/** Larger files have objects: they are imported unseen. */
const MAX_TEXT_BYTES = 32 << 20;
/** The largest compressed file that the server reads without a session. */
const MAX_COMPRESSED_BYTES = 1 << 20;
/** The first bytes of gzip, xz and zstd. */
const COMPRESSED: readonly (readonly number[])[] = [[0x1f, 0x8b], [0xfd, 0x37, 0x7a, 0x58, 0x5a], [0x28, 0xb5, 0x2f, 0xfd]];

/** The text; "" if the file is too large to look at, or only an import can read it. */
export async function droppedText(file: File): Promise<string> {
  const head = new Uint8Array(await file.slice(0, 8).arrayBuffer());
  if (!COMPRESSED.some((magic) => magic.every((byte, i) => head[i] === byte))) return file.size <= MAX_TEXT_BYTES ? file.text() : "";
  if (file.size > MAX_COMPRESSED_BYTES) return "";
  try {
    return (await textOfFile(await base64(file))).text;
  } catch {
    return "";
  }
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => { resolve((reader.result as string).replace(/^[^,]*,/, "")); };
    reader.onerror = () => { reject(reader.error ?? new Error("unreadable")); };
    reader.readAsDataURL(file);
  });
}
