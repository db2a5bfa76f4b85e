/** Where the bars of a case's thumbnail are. */
import type { Thumbnail } from "../model/sessions/thumbnail";

export const HEIGHT = 56;
/** The height of a node. What the pod requests beyond it is drawn above, up to `HEIGHT`. */
const NODE_HEIGHT = 38;
const BAR = 14;
const GAP = 4;
const ZONE_GAP = 6;
const POD_ROOM = 30;
/** The pod's height in hundredths of a node where no node has the resource. */
const POD_SHARE = 40;

export interface GlyphBar {
  node: string;
  x: number;
  top: number;
  usedTop: number;
  /** What the pod requests; null: its request is not the reason. */
  requested: { top: number; height: number } | null;
  /** The node has none of the resource. */
  none: boolean;
  plugin: string;
}

export interface Glyph {
  width: number;
  /** The pod, as tall as its request on the largest node. */
  pod: { x: number; top: number; height: number };
  bars: GlyphBar[];
  bar: number;
  node: number;
}

export function glyphOf({ nodes }: Thumbnail): Glyph {
  const heightOf = (hundredths: number): number => (NODE_HEIGHT * hundredths) / 100;
  const floor = HEIGHT - 1;
  let x = POD_ROOM;
  const bars: GlyphBar[] = [];
  for (const [index, { node, zone, used, requested, plugin }] of nodes.entries()) {
    if (index) x += BAR + GAP + (zone === nodes[index - 1]!.zone ? 0 : ZONE_GAP);
    const usedTop = floor - heightOf(Math.min(100, used));
    const top = Math.max(1, usedTop - heightOf(requested));
    bars.push({ node, x, top: floor - NODE_HEIGHT, usedTop, requested: plugin === "NodeResourcesFit" && requested > 0 ? { top, height: usedTop - top } : null, none: !requested && !used, plugin });
  }
  const shares = nodes.map(({ requested }) => requested).filter(Boolean);
  const height = Math.min(HEIGHT - 2, Math.max(6, heightOf(shares.length ? Math.min(...shares) : POD_SHARE)));
  return { width: x + BAR + 1, pod: { x: 1, top: floor - height, height }, bars, bar: BAR, node: NODE_HEIGHT };
}

/** The plugins that reject the nodes, without repetition; a pod that none rejects is held back by its scheduling gates. */
export function pluginsOf({ nodes }: Thumbnail): string[] {
  const plugins = new Set(nodes.map(({ plugin }) => plugin).filter(Boolean));
  return plugins.size ? [...plugins] : ["SchedulingGates"];
}
