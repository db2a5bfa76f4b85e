import { Journal } from "./journal";

/** A NodeInfo with all members, in an item of the cache's list or in the snapshot. Immutable: a change creates a new one, so that copies are free. */
export interface NodeInfo {
  readonly name: string;
  readonly generation: number;
  /** False for a ghost: the node was deleted, and pods are still on it. */
  readonly hasNode: boolean;
  readonly unschedulable: boolean;
  /** `key=value:effect`, or `key:effect`. */
  readonly taints: readonly string[];
  readonly zone: string;
  readonly podOrder: readonly string[];
  readonly podsWithAffinity: readonly string[];
  readonly podsWithRequiredAntiAffinity: readonly string[];
  readonly requested: Amounts;
  readonly nonZeroRequested: Amounts;
  readonly allocatable: Amounts;
  readonly usedPorts: Readonly<Record<string, string[]>>;
  /** v1.36: the features that the kubelet declares. */
  readonly declaredFeatures: readonly string[];
  readonly imageStates: Readonly<Record<string, { size: number; numNodes: number }>>;
  readonly pvcRefCounts: Readonly<Record<string, number>>;
}

/** Amounts on one node: milli-cpus, bytes and counts. */
export interface Amounts {
  readonly milliCPU: number;
  readonly memory: number;
  readonly ephemeralStorage: number;
  readonly allowedPodNumber: number;
  readonly scalar: Readonly<Record<string, number>>;
}

export const NOTHING: Amounts = { milliCPU: 0, memory: 0, ephemeralStorage: 0, allowedPodNumber: 0, scalar: {} };

interface NodeInfoListItem {
  info: NodeInfo;
  next: NodeInfoListItem | null;
  prev: NodeInfoListItem | null;
}

/**
 * The cache's doubly linked list, headNode first, with upstream's map by name.
 *
 * Upstream: internal/cache/cache.go nodeInfoListItem, moveNodeInfoToHead, removeNodeInfoFromList.
 */
export class NodeList implements Iterable<NodeInfo> {
  private items = new Map<string, NodeInfoListItem>();
  private head: NodeInfoListItem | null = null;

  constructor(private readonly journal = new Journal()) {}

  get size(): number {
    return this.items.size;
  }

  get headNode(): NodeInfo | null {
    return this.head?.info ?? null;
  }

  get(name: string): NodeInfo | undefined {
    return this.items.get(name)?.info;
  }

  /** Replace the NodeInfo of a node and move its item to the head; add an item if there is none. */
  toHead(info: NodeInfo): void {
    let item = this.items.get(info.name);
    if (item) {
      this.recordChange(item);
      item.info = info;
      if (item === this.head) return;
      this.unlink(item);
    } else {
      item = { info, next: null, prev: null };
      this.items.set(info.name, item);
      this.recordInsertion(item);
    }
    this.link(item, null, this.head);
  }

  remove(name: string): void {
    const item = this.items.get(name);
    if (!item) return;
    const { prev, next } = item;
    this.journal.record(() => {
      this.items.set(name, item);
      this.link(item, prev, next);
    });
    this.unlink(item);
    this.items.delete(name);
  }

  load(nodeInfos: readonly NodeInfo[]): void {
    this.clear();
    for (let i = nodeInfos.length - 1; i >= 0; i--) this.toHead(nodeInfos[i]!);
  }

  clear(): void {
    const { items, head } = this;
    this.journal.record(() => {
      this.items = items;
      this.head = head;
    });
    this.items = new Map();
    this.head = null;
  }

  *[Symbol.iterator](): Iterator<NodeInfo> {
    for (let item = this.head; item; item = item.next) yield item.info;
  }

  /** The NodeInfos in the list's order. */
  toArray(): NodeInfo[] {
    const nodeInfos = new Array<NodeInfo>(this.size);
    let index = 0;
    for (let item = this.head; item; item = item.next) nodeInfos[index++] = item.info;
    return nodeInfos;
  }

  private recordChange(item: NodeInfoListItem): void {
    if (!this.journal.open) return;
    const { info, prev, next } = item;
    this.journal.record(() => {
      item.info = info;
      if (item.prev === prev) return;
      this.unlink(item);
      this.link(item, prev, next);
    });
  }

  private recordInsertion(item: NodeInfoListItem): void {
    this.journal.record(() => {
      this.unlink(item);
      this.items.delete(item.info.name);
    });
  }

  private link(item: NodeInfoListItem, prev: NodeInfoListItem | null, next: NodeInfoListItem | null): void {
    item.prev = prev;
    item.next = next;
    if (prev) prev.next = item;
    else this.head = item;
    if (next) next.prev = item;
  }

  private unlink(item: NodeInfoListItem): void {
    if (item.prev) item.prev.next = item.next;
    if (item.next) item.next.prev = item.prev;
    if (this.head === item) this.head = item.next;
    item.prev = null;
    item.next = null;
  }
}
