/** The texts of dropped files, if they are explained rather than imported. */
import { textOfFile } from "../../api/explainText";
import { hasMessagesAlone, hasNoNodes, hasNoPods, isCopied, MAX_TEXT_LENGTH, mayHaveMessages } from "../../model/text/pastedText";

/** Larger files have objects: they are imported unseen. */
const MAX_TEXT_BYTES = 32 << 20;
/** The largest compressed file that the server reads without a session. */
const MAX_COMPRESSED_BYTES = 1 << 20;
/** The first bytes of gzip, xz and zstd. */
const COMPRESSED: readonly (readonly number[])[] = [[0x1f, 0x8b], [0xfd, 0x37, 0x7a, 0x58, 0x5a], [0x28, 0xb5, 0x2f, 0xfd]];

/** More files are imported. */
const MAX_FILES = 8;

/** The first image among the files, which has no text. */
export function imageAmong(files: readonly File[]): File | undefined {
  return files.find(({ type }) => type.startsWith("image/"));
}

/** The text of each file, if all of them have messages of the scheduler or were copied from a terminal; empty: they are to be imported. */
export async function textsToExplain(files: readonly File[]): Promise<string[]> {
  if (files.length > MAX_FILES) return [];
  const texts = await Promise.all(files.map(droppedText));
  return texts.every((text) => hasMessagesAlone(text) || isCopied(text)) ? texts : [];
}

/** The text of each file, if none has a node and one has other objects, or if none has a pod and one has messages; empty: a session is of use. */
export async function textsWithoutNodes(files: readonly File[]): Promise<string[]> {
  if (files.length > MAX_FILES) return [];
  const texts = await Promise.all(files.map(droppedText));
  if (texts.some(mayHaveMessages) && texts.every((text) => hasNoPods(text) || hasMessagesAlone(text) || isCopied(text))) return texts;
  return texts.some(hasNoNodes) && texts.every((text) => hasNoNodes(text) || hasMessagesAlone(text) || isCopied(text)) ? texts : [];
}

/** The texts of the files that may have messages of the scheduler, to explain if an import finds no objects; empty: none has. */
export async function textsWithMessages(files: readonly File[]): Promise<string[]> {
  if (files.length > MAX_FILES || files.some((file) => file.size > 4 * MAX_TEXT_LENGTH)) return [];
  return (await Promise.all(files.map(droppedText))).filter(mayHaveMessages);
}

/** The text; "" if the file is too large to look at, or only an import can read it. */
async function droppedText(file: File): Promise<string> {
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
