import { addressOf, getLessonVersion, type Lesson } from "../../api/lessons";

const POLL_MILLIS = 700;

/**
 * Watches the files of a lesson that is being written: reports errors in them, and restarts the lesson at the same stop when they are valid
 * again.
 */
export function followLesson(lesson: Lesson, at: () => string, showFaults: (problem: string) => void, signal: AbortSignal): void {
  const poll = async (): Promise<void> => {
    const { version, faults } = await getLessonVersion(lesson.name, signal);
    if (version === lesson.version) showFaults("");
    else if (faults.length) showFaults(faults.join("\n"));
    else location.assign(addressOf(lesson.name, at()));
  };
  const schedule = (): void => {
    if (!signal.aborted) setTimeout(() => void poll().catch(() => undefined).then(schedule), POLL_MILLIS);
  };
  schedule();
}
