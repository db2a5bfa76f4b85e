import type { RoomMoment } from "../../model/teaching/room";
import { isAtMoment, selectionText, positionOf, type SharedPosition } from "../../model/teaching/roomMoment";
import type { ViewOptions } from "../page/viewOptions.svelte";
import type { RoomStore } from "./room.svelte";
import type { SessionStore } from "../session/sessionStore.svelte";

const positionIn = (store: SessionStore): SharedPosition => ({
  at: store.playback.following ? null : (store.playback.seeking ?? store.event),
  select: store.selection.drawerOpen ? store.selection.current : null,
  tab: store.selection.tab,
});

/** The view options that participants share with the teacher. */
function sharedOptions(viewOptions: ViewOptions): Record<string, string> {
  return { cycleAs: viewOptions.cycleAs, cacheBy: viewOptions.cacheBy, scoreAs: viewOptions.scoreAs, wide: viewOptions.matrixWide ? "1" : "" };
}

function applyOptions(viewOptions: ViewOptions, page: Record<string, string>): void {
  if (page.cycleAs === "stages" || page.cycleAs === "matrix") viewOptions.cycleAs = page.cycleAs;
  if (page.cacheBy === "load" || page.cacheBy === "verdict") viewOptions.cacheBy = page.cacheBy;
  if (page.scoreAs === "raw" || page.scoreAs === "normalized" || page.scoreAs === "weighted") viewOptions.scoreAs = page.scoreAs;
  viewOptions.matrixWide = page.wide === "1";
}

/** Sends the teacher's moment and view to the room while the page shows the room's session. Call it while a component is created. */
export function broadcastToRoom(room: RoomStore, store: SessionStore, viewOptions: ViewOptions): void {
  $effect(() => {
    const { at, select, tab } = positionIn(store);
    const { stop, finished } = room.lessonPosition;
    const page = { ...sharedOptions(viewOptions), ...(finished ? { finished: "1" } : {}) };
    room.go({ session: store.id, at, select: selectionText(select), tab: select ? tab : "", panel: "", ...(viewOptions.cacheZoom ?? { zoom: null, x: null, y: null }), stop, page });
  });
}

/** Keeps a participant's page at the teacher's moment, until the participant navigates away. Call it while a component is created. */
export function followTeacher(room: RoomStore, store: SessionStore, viewOptions: ViewOptions): void {
  let applied: RoomMoment | null = null;

  // Follow the teacher.
  $effect(() => {
    const { moment } = room;
    if (!room.following || !moment || moment.session !== store.id || store.current === null) return;
    if (moment === applied || (moment.at !== null && moment.at > store.head.event)) return;
    applied = moment;
    apply(store, viewOptions, moment);
  });

  // Stop following when the participant navigates.
  $effect(() => {
    const own = positionIn(store);
    if (room.following && applied && applied === room.moment && !isAtMoment(own, applied)) {
      room.follow(false);
      applied = null;
    }
  });
}

function apply(store: SessionStore, viewOptions: ViewOptions, moment: RoomMoment): void {
  const target = positionOf(moment);
  if (target.at === null) {
    if (!store.playback.following) store.playback.follow();
  } else if (store.event !== target.at || store.playback.following) void store.playback.seek(target.at);
  if (selectionText(store.selection.drawerOpen ? store.selection.current : null) !== moment.select) store.selection.select(target.select);
  if (target.select) store.selection.tab = target.tab;
  const { zoom, x, y } = moment;
  viewOptions.teacherZoom = zoom === null || x === null || y === null ? null : { zoom, x, y };
  applyOptions(viewOptions, moment.page);
}
