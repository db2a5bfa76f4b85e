import type { Phrase } from "./phrase";

/** What a server says about a text, as far as it is joined. */
interface Answered {
  messages: unknown[];
  answers?: unknown[];
  others?: Phrase | null;
  more?: boolean;
  command?: string;
}

/** The answers about several texts as one. */
export function joinedAnswers<Answer extends Answered>(all: readonly Answer[]): Answer {
  const [first, ...rest] = all as [Answer, ...Answer[]];
  return rest.reduce((joined, next) => ({
    ...joined,
    messages: [...joined.messages, ...next.messages],
    answers: [...(joined.answers ?? []), ...(next.answers ?? [])],
    others: joined.others && next.others ? { template: "{first}; {next}", values: { first: joined.others, next: next.others } } : joined.others ?? next.others ?? null,
    more: Boolean(joined.more) || Boolean(next.more),
    command: joined.command || next.command || "",
  }), first);
}
