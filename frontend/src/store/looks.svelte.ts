/** How the panels of one page show themselves at the moment. Nothing of it is kept. */
export class Looks {
  cycleAs = $state<"stages" | "matrix">("stages");
  /** What the cells and boxes of the cache tell: how full nodes are, or what Filter said of them in the cycle that is shown. */
  cacheBy = $state<"load" | "verdict">("load");
  /** The filter of nodes, as it was typed. */
  nodeFilter = $state("");

  /** Whether anything on the page needs the full record of the cycle. */
  get wantsRecord(): boolean {
    return this.cycleAs === "matrix" || this.cacheBy === "verdict" || /\bplugin:./.test(this.nodeFilter);
  }
}
