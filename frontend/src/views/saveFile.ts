import type { Fetched } from "../api/files";

const KEPT_MILLIS = 60_000;

/** Have the browser save a downloaded file. */
export function saveFile(file: Fetched): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file.blob);
  link.download = file.name;
  link.click();
  setTimeout(() => {
    URL.revokeObjectURL(link.href);
  }, KEPT_MILLIS);
}
