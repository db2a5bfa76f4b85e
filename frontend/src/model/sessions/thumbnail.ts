/** A node of a thumbnail. The shares are of what it can allocate, in hundredths; both are 0 if it has none of the resource. `plugin` rejects the node first. */
export interface NodeMark {
  node: string;
  zone: string;
  used: number;
  requested: number;
  plugin: string;
}

export interface Thumbnail {
  resource: string;
  nodes: NodeMark[];
}
