import { addressOf, getLessonVersion, type Lesson } from "../api/lessons";

const LOOK_MILLIS = 700;

/**
 * While its author writes a lesson: looks whether its files have changed, tells what is wrong with them, and begins the lesson anew at the
 * same stop once they can be read.
 */
export function followLesson(lesson: Lesson, at: () => string, tell: (problem: string) => void, signal: AbortSignal): void {
  const look = async (): Promise<void> => {
    const { version, faults } = await getLessonVersion(lesson.name, signal);
    if (version === lesson.version) tell("");
    else if (faults.length) tell(faults.join("\n"));
    else location.assign(addressOf(lesson.name, at()));
  };
  const again = (): void => {
    if (!signal.aborted) setTimeout(() => void look().catch(() => undefined).then(again), LOOK_MILLIS);
  };
  again();
}
