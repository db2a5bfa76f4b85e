import { NO_NAMES } from "../../model/names";
import type { Selection } from "../../model/permalink";

/** What is selected on the page, and what is highlighted while the pointer is on something. */
export class SelectionState {
  current = $state.raw<Selection | null>(null);
  hovered = $state.raw<Selection | null>(null);
  /** Names of the nodes that the element under the pointer refers to. */
  highlighted = $state.raw(NO_NAMES);
  drawerOpen = $state(false);
  /** The drawer's tab. */
  tab = $state("summary");
  /** The user chose a tab, which stays for later selections. */
  private hasChosen = false;

  /** `tabFor`: the tab that suits a selection. */
  constructor(private readonly tabFor: (selection: Selection) => string = () => "summary") {}

  /** The selection that the open drawer shows. */
  get inDrawer(): Selection | null {
    return this.drawerOpen ? this.current : null;
  }

  /** Select something and open the drawer; null clears the selection and closes the drawer. */
  select(selection: Selection | null, tab?: string): void {
    this.current = selection;
    this.drawerOpen = selection !== null;
    if (tab) this.tab = tab;
    else if (selection && !this.hasChosen) this.tab = this.tabFor(selection);
  }

  chooseTab(tab: string): void {
    this.hasChosen = true;
    this.tab = tab;
  }
}
