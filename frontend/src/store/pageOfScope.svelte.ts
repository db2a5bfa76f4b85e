import { untrack } from "svelte";
import { placeOf } from "../model/permalink";
import { AddressBar } from "./address";
import type { CycleRecords } from "./cycleRecords.svelte";
import type { ViewOptions } from "./viewOptions.svelte";
import type { Scope } from "./scope.svelte";

/**
 * What every page that draws a scope does: it goes where its address points, keeps the address, fetches the record of the cycle that is shown
 * while somebody looks at one, and ends all of it with itself. Called while the page's component is made.
 */
export function livesOnPage(scope: Scope, viewOptions: ViewOptions, records: CycleRecords): void {
  untrack(() => { scope.goTo(placeOf(location.search)); });
  const address = new AddressBar();
  $effect(() => {
    address.write(scope.place);
  });
  $effect(() => () => {
    address.stop();
    scope.close();
    records.close();
  });
  $effect(() => {
    const state = scope.current;
    const cycle = state?.cycle;
    records.want(viewOptions.wantsRecord && state && cycle?.outcome ? cycle.cycle : 0, state?.snapshot.nodeInfoList ?? []);
  });
}
