import type { Moment } from "../model/room";
import { isThere, selectionText, whereaboutsOf, type Whereabouts } from "../model/roomMoment";
import type { ViewOptions } from "./viewOptions.svelte";
import type { RoomStore } from "./room.svelte";
import type { Scope } from "./scope.svelte";

const whereIs = (scope: Scope): Whereabouts => ({
  at: scope.playback.following ? null : (scope.playback.seeking ?? scope.event),
  select: scope.selection.drawerOpen ? scope.selection.current : null,
  tab: scope.selection.tab,
});

/** The looks that others see as the teacher has them. */
function sharedOptions(viewOptions: ViewOptions): Record<string, string> {
  return { cycleAs: viewOptions.cycleAs, cacheBy: viewOptions.cacheBy, scoreAs: viewOptions.scoreAs, wide: viewOptions.matrixWide ? "1" : "" };
}

function look(viewOptions: ViewOptions, as: Record<string, string>): void {
  if (as.cycleAs === "stages" || as.cycleAs === "matrix") viewOptions.cycleAs = as.cycleAs;
  if (as.cacheBy === "load" || as.cacheBy === "verdict") viewOptions.cacheBy = as.cacheBy;
  if (as.scoreAs === "raw" || as.scoreAs === "normalized" || as.scoreAs === "weighted") viewOptions.scoreAs = as.scoreAs;
  viewOptions.matrixWide = as.wide === "1";
}

/** Tells the room where its teacher is, for as long as the page draws what everybody sees. Called while a component is made. */
export function leadsRoom(room: RoomStore, scope: Scope, viewOptions: ViewOptions): void {
  $effect(() => {
    const { at, select, tab } = whereIs(scope);
    const { stop, finished } = room.lessonAt;
    const page = { ...sharedOptions(viewOptions), ...(finished ? { finished: "1" } : {}) };
    room.go({ session: scope.id, at, select: selectionText(select), tab: select ? tab : "", panel: "", ...(viewOptions.zoomOfCache ?? { zoom: null, x: null, y: null }), stop, page });
  });
}

/** Takes the page of a participant to where the teacher is, until the participant goes elsewhere. Called while a component is made. */
export function followsRoom(room: RoomStore, scope: Scope, viewOptions: ViewOptions): void {
  let applied: Moment | null = null;

  // Where the teacher went, the page goes.
  $effect(() => {
    const { moment } = room;
    if (!room.following || !moment || moment.session !== scope.id || scope.current === null) return;
    if (moment === applied || (moment.at !== null && moment.at > scope.head.event)) return;
    applied = moment;
    apply(scope, viewOptions, moment);
  });

  // Whoever went elsewhere by themselves looks around.
  $effect(() => {
    const here = whereIs(scope);
    if (room.following && applied && applied === room.moment && !isThere(here, applied)) {
      room.follow(false);
      applied = null;
    }
  });
}

function apply(scope: Scope, viewOptions: ViewOptions, moment: Moment): void {
  const there = whereaboutsOf(moment);
  if (there.at === null) {
    if (!scope.playback.following) scope.playback.follow();
  } else if (scope.event !== there.at || scope.playback.following) void scope.playback.seek(there.at);
  if (selectionText(scope.selection.drawerOpen ? scope.selection.current : null) !== moment.select) scope.selection.select(there.select);
  if (there.select) scope.selection.tab = there.tab;
  const { zoom, x, y } = moment;
  viewOptions.wantedZoom = zoom === null || x === null || y === null ? null : { zoom, x, y };
  look(viewOptions, moment.page);
}
