import { untrack } from "svelte";
import { parsePermalink } from "../../model/permalink";
import { AddressBar } from "./address";
import type { CycleRecords } from "../requests/cycleRecords.svelte";
import type { ViewOptions } from "./viewOptions.svelte";
import type { SessionStore } from "../session/sessionStore.svelte";

/**
 * Binds a store to its page: opens the permalink of the address bar, keeps the address up to date, loads the record of the shown cycle
 * when a panel needs it, and closes everything with the page. Call it while the page's component is created.
 */
export function bindStoreToPage(store: SessionStore, viewOptions: ViewOptions, records: CycleRecords): void {
  untrack(() => { store.goTo(parsePermalink(location.search)); });
  const address = new AddressBar();
  $effect(() => {
    address.write(store.permalink);
  });
  $effect(() => () => {
    address.stop();
    store.close();
    records.close();
  });
  $effect(() => {
    const state = store.current;
    const cycle = viewOptions.shownCycle(state);
    records.want(viewOptions.needsRecord && state && cycle?.outcome ? cycle.cycle : 0, state?.snapshot.nodeInfoList ?? []);
  });
}
