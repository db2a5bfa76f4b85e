import { getLesson, type Lesson, type LessonStop } from "../../api/lessons";
import type { RoomStore } from "./room.svelte";

/** The room's lesson as its participants see it: the teacher's stop, and answers once the room's session has reached them. */
export class RoomLesson {
  lesson = $state.raw<Lesson | null>(null);
  private asked = 0;

  constructor(private readonly room: RoomStore) {}

  get stop(): LessonStop | null {
    const named = this.room.moment?.stop ?? "";
    return this.lesson?.stops.find(({ id }) => id === named) ?? this.lesson?.stops[0] ?? null;
  }

  get index(): number {
    return Math.max(0, this.lesson?.stops.findIndex(({ id }) => id === this.stop?.id) ?? 0);
  }

  get next(): LessonStop | null {
    return this.lesson?.stops[this.index + 1] ?? null;
  }

  /** The teacher has finished the lesson. */
  get finished(): boolean {
    return this.room.moment?.page.finished === "1";
  }

  /** Load it again: answers are included once the session has reached them. */
  async load(session: string): Promise<void> {
    const request = ++this.asked;
    try {
      const lesson = await getLesson(session);
      if (request === this.asked) this.lesson = lesson;
    } catch {
      // Retried with the next event; the loaded texts stay.
    }
  }
}
