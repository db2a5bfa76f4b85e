import { say } from "./phrase";

/** What follows the name of an example: the number of a later one, and the event and release of each fork. */
const SUFFIX = /(?: \d+)?(?: @ \d+(?: v[\d.]+)?(?: \d+)?)*$/;

/** A session's name in the language of the page: the page's own names (of cases, lessons and samples) are translated, whatever language they were given in. */
export function sessionName(name: string): string {
  const whole = say(null, name).text;
  if (whole !== name) return whole;
  const own = name.replace(SUFFIX, "");
  return say(null, own).text + name.slice(own.length);
}
