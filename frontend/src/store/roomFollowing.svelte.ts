import type { Moment } from "../model/room";
import { isAtMoment, selectionText, positionOf, type SharedPosition } from "../model/roomMoment";
import type { ViewOptions } from "./viewOptions.svelte";
import type { RoomStore } from "./room.svelte";
import type { Scope } from "./scope.svelte";

const positionIn = (scope: Scope): SharedPosition => ({
  at: scope.playback.following ? null : (scope.playback.seeking ?? scope.event),
  select: scope.selection.drawerOpen ? scope.selection.current : null,
  tab: scope.selection.tab,
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
export function broadcastToRoom(room: RoomStore, scope: Scope, viewOptions: ViewOptions): void {
  $effect(() => {
    const { at, select, tab } = positionIn(scope);
    const { stop, finished } = room.lessonAt;
    const page = { ...sharedOptions(viewOptions), ...(finished ? { finished: "1" } : {}) };
    room.go({ session: scope.id, at, select: selectionText(select), tab: select ? tab : "", panel: "", ...(viewOptions.zoomOfCache ?? { zoom: null, x: null, y: null }), stop, page });
  });
}

/** Keeps a participant's page at the teacher's moment, until the participant navigates away. Call it while a component is created. */
export function followTeacher(room: RoomStore, scope: Scope, viewOptions: ViewOptions): void {
  let applied: Moment | null = null;

  // Follow the teacher.
  $effect(() => {
    const { moment } = room;
    if (!room.following || !moment || moment.session !== scope.id || scope.current === null) return;
    if (moment === applied || (moment.at !== null && moment.at > scope.head.event)) return;
    applied = moment;
    apply(scope, viewOptions, moment);
  });

  // Stop following when the participant navigates.
  $effect(() => {
    const own = positionIn(scope);
    if (room.following && applied && applied === room.moment && !isAtMoment(own, applied)) {
      room.follow(false);
      applied = null;
    }
  });
}

function apply(scope: Scope, viewOptions: ViewOptions, moment: Moment): void {
  const target = positionOf(moment);
  if (target.at === null) {
    if (!scope.playback.following) scope.playback.follow();
  } else if (scope.event !== target.at || scope.playback.following) void scope.playback.seek(target.at);
  if (selectionText(scope.selection.drawerOpen ? scope.selection.current : null) !== moment.select) scope.selection.select(target.select);
  if (target.select) scope.selection.tab = target.tab;
  const { zoom, x, y } = moment;
  viewOptions.wantedZoom = zoom === null || x === null || y === null ? null : { zoom, x, y };
  applyOptions(viewOptions, moment.page);
}
