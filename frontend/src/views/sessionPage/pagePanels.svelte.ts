import type { ActionPanels, ActionTab } from "../../commands/actionCommands";
import type { Panel, QueryActions } from "../../commands/queryCommands";
import type { ObjectName } from "../../api/objects";
import { splitKey } from "../../model/names";
import { showsOverview, withoutShow, type Selection } from "../../model/permalink";
import { compareAddress, Forking } from "../../store/newSessions/forking.svelte";
import { preferences } from "../../store/page/preferences.svelte";
import type { SessionStore } from "../../store/session/sessionStore.svelte";

/** Which dialogs and panels of a session's page are open, and the commands that open them. */
export class PagePanels implements ActionPanels, QueryActions {
  help = $state(false);
  share = $state(false);
  search = $state(false);
  asksForRelease = $state(false);
  query = $state<Panel | null>(null);
  /** The overview gives way to the explanation of the pod if only one is pending. */
  prefersAnswer = false;
  actionTab = $state<ActionTab | null>(null);
  /** The object that the actions panel edits; null: a new one. */
  edited = $state.raw<ObjectName | null>(null);
  /** The template with which the editor starts. */
  template = $state("pod");
  private readonly forking: Forking;

  constructor(private readonly store: SessionStore) {
    this.forking = new Forking(store);
  }

  openPanel = (panel: Panel): void => {
    this.prefersAnswer = false;
    this.query = this.store.current && this.query !== panel ? panel : null;
  };

  forkHere = (): void => {
    void this.forking.fork();
  };

  /** Ask first: a fork is another session. */
  askForOtherRelease = (): void => {
    this.asksForRelease = this.store.current !== null;
  };

  forkToOtherRelease = (): void => {
    this.asksForRelease = false;
    void this.forking.toOtherRelease();
  };

  compareReleases = (): void => {
    void import("../../store/newSessions/releaseComparison").then(({ compareReleases }) => compareReleases(this.store));
  };

  undoHere = (): void => {
    void this.forking.undo();
  };

  openCompare = (): void => {
    location.assign(compareAddress(this.store));
  };

  openExperiment = (): void => {
    const { id, playback, event, current } = this.store;
    const nodes = current?.api.objects.get("Node") ?? 0;
    location.assign(`/experiments/?session=${id}${playback.following ? "" : `&event=${String(event)}`}&nodes=${String(nodes)}`);
  };

  openActions = (tab: ActionTab): void => {
    this.edited = null;
    this.template = "pod";
    this.actionTab = this.actionTab === tab ? null : tab;
  };

  edit = ({ kind, name }: Selection): void => {
    this.editObject(kind === "node" ? { kind: "Node", name } : { kind: "Pod", ...splitKey(name) });
  };

  editObject = (name: ObjectName): void => {
    this.closeQuery();
    this.edited = name;
    this.actionTab = "object";
  };

  createFrom = (template: string): void => {
    this.closeQuery();
    this.edited = null;
    this.template = template;
    this.actionTab = "object";
  };

  openShare = (): void => {
    this.share = this.store.current !== null;
  };

  toggleLanguage = (): void => {
    void preferences.setLanguage(preferences.language === "en" ? "zh-CN" : "en");
  };

  openSessions = (): void => {
    location.assign("/sessions/");
  };

  toggleHelp = (): void => {
    this.help = !this.help;
  };

  openSearch = (): void => {
    this.search = this.store.current !== null;
  };

  /** Close the panel on top; if none is open, clear the selection. */
  dismiss = (): void => {
    if (this.search) this.search = false;
    else if (this.help) this.help = false;
    else if (this.query) this.closeQuery();
    else if (this.actionTab) this.actionTab = null;
    else this.store.selection.select(null);
  };

  /** Close the query panel. A permalink may have opened the overview: its parameter is removed. */
  closeQuery = (): void => {
    this.query = null;
    if (showsOverview(location.search)) history.replaceState(history.state, "", `${location.pathname}${withoutShow(location.search)}${location.hash}`);
  };
}
