import type { BandShare } from "../model/bandShare";
import type { AskedStatus } from "../model/statusPath";

/** Which rows of the matrix are shown: all, the feasible, those never looked at, those of one plugin, those of one reason. */
export interface MatrixPart {
  kind: "all" | "feasible" | "unseen" | "plugin" | "reason";
  name: string;
}

export interface Among {
  title: string;
  nodes: ReadonlySet<string>;
}

export const ALL_ROWS: MatrixPart = { kind: "all", name: "" };

const NOBODY: ReadonlyMap<string, "away" | "assumed"> = new Map();

/** How the panels of one page show themselves at the moment. Nothing of it is kept. */
export class Looks {
  cycleAs = $state<"stages" | "matrix">("stages");
  matrixPart = $state.raw<MatrixPart>(ALL_ROWS);
  /** What each plugin took is shown at its stage. */
  times = $state(false);
  /** Scores as the plugin gave them, after NormalizeScore, or times the weight. */
  scoreAs = $state<"raw" | "normalized" | "weighted">("weighted");
  /** The Status whose way is told. */
  status = $state.raw<AskedStatus | null>(null);
  /** The matrix has the whole page. */
  matrixWide = $state(false);
  /** What the cells and boxes of the cache tell: how full nodes are, or what Filter said of them in the cycle that is shown. */
  cacheBy = $state<"load" | "verdict">("load");
  /** Pods on their way: not on their node yet, or on it and not told of by the API server yet. They are drawn so until they have come. */
  travelling = $state.raw<ReadonlyMap<string, "away" | "assumed">>(NOBODY);
  /** Where the cache's picture has a node, in pixels of the window; null: nowhere that is seen. */
  placeOfNode: (name: string) => { x: number; y: number } | null = () => null;
  /** How close the cells of the cache are looked at; null: there is no picture of them. */
  zoomOfCache = $state.raw<BandShare | null>(null);
  /** As somebody who is followed looks at it; null: nobody is, or the picture was moved since. */
  wantedZoom = $state.raw<BandShare | null>(null);
  /** The filter of nodes, as it was typed. */
  nodeFilter = $state("");
  /** Nodes that something on the page speaks of, a clause of a message for one: beside them all others grow pale. */
  among = $state.raw<Among | null>(null);

  /** Whether anything on the page needs the full record of the cycle. */
  get wantsRecord(): boolean {
    return this.times || this.cycleAs === "matrix" || this.matrixWide || this.cacheBy === "verdict" || /\bplugin:./.test(this.nodeFilter);
  }

  /** Leave only these nodes in sight in the cache; the same once more: all again. */
  keepAmong(title: string, nodes: ReadonlySet<string>): void {
    this.among = this.among?.title === title ? null : { title, nodes };
  }

  /** Show the rows of the matrix that something on the page speaks of. */
  openMatrix(part: MatrixPart): void {
    this.matrixPart = part;
    this.cycleAs = "matrix";
  }
}
