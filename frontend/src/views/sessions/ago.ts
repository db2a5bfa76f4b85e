import { language, t } from "../../i18n/translate";

const STEPS = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
] as const;

/** How long ago a moment was, in words of the current language: "2 hours ago". */
export function ago(at: string): string {
  const seconds = (Date.now() - Date.parse(at)) / 1_000;
  const relative = new Intl.RelativeTimeFormat(language(), { numeric: "auto" });
  for (const [length, unit] of STEPS) if (seconds >= length) return spaced(relative.format(-Math.floor(seconds / length), unit));
  return t("sessions.justNow");
}

/** With a space between a number and a Chinese character, as in all texts of the page. */
function spaced(text: string): string {
  return text.replace(/(\d)(\p{Script=Han})/gu, "$1 $2");
}
