import type { Command } from "./command";

/** `next`: to the next stop of a lesson, or to the question that must be answered first. */
export function lessonCommands({ next, back }: { next(): void; back(): void }): Command[] {
  return [
    { id: "lesson.next", title: "command.lesson.next", keys: ["."], group: "lesson", run: next },
    { id: "lesson.back", title: "command.lesson.back", keys: [","], group: "lesson", run: back },
  ];
}
