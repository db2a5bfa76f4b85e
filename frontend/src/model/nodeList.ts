import { Journal } from "./journal";

/** A NodeInfo with all members. Immutable: a change creates a new one, so that copies are free. */
export interface Item {
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

interface Link {
  item: Item;
  next: Link | null;
  prev: Link | null;
}

/**
 * The cache's doubly linked list, headNode first, with upstream's map by name.
 *
 * Upstream: internal/cache/cache.go nodeInfoListItem, moveNodeInfoToHead, removeNodeInfoFromList.
 */
export class NodeList implements Iterable<Item> {
  private links = new Map<string, Link>();
  private head: Link | null = null;

  constructor(private readonly journal = new Journal()) {}

  get size(): number {
    return this.links.size;
  }

  get headNode(): Item | null {
    return this.head?.item ?? null;
  }

  get(name: string): Item | undefined {
    return this.links.get(name)?.item;
  }

  /** Move an item to the head; add it if it is not in the list. */
  toHead(item: Item): void {
    let link = this.links.get(item.name);
    if (link) {
      this.tellChange(link);
      link.item = item;
      if (link === this.head) return;
      this.unlink(link);
    } else {
      link = { item, next: null, prev: null };
      this.links.set(item.name, link);
      this.tellArrival(link);
    }
    this.link(link, null, this.head);
  }

  remove(name: string): void {
    const link = this.links.get(name);
    if (!link) return;
    const { prev, next } = link;
    this.journal.record(() => {
      this.links.set(name, link);
      this.link(link, prev, next);
    });
    this.unlink(link);
    this.links.delete(name);
  }

  load(items: readonly Item[]): void {
    this.clear();
    for (let i = items.length - 1; i >= 0; i--) this.toHead(items[i]!);
  }

  clear(): void {
    const { links, head } = this;
    this.journal.record(() => {
      this.links = links;
      this.head = head;
    });
    this.links = new Map();
    this.head = null;
  }

  *[Symbol.iterator](): Iterator<Item> {
    for (let link = this.head; link; link = link.next) yield link.item;
  }

  /** The items in order. */
  toArray(): Item[] {
    const items = new Array<Item>(this.size);
    let index = 0;
    for (let link = this.head; link; link = link.next) items[index++] = link.item;
    return items;
  }

  private tellChange(link: Link): void {
    if (!this.journal.open) return;
    const { item, prev, next } = link;
    this.journal.record(() => {
      link.item = item;
      if (link.prev === prev) return;
      this.unlink(link);
      this.link(link, prev, next);
    });
  }

  private tellArrival(link: Link): void {
    this.journal.record(() => {
      this.unlink(link);
      this.links.delete(link.item.name);
    });
  }

  private link(link: Link, prev: Link | null, next: Link | null): void {
    link.prev = prev;
    link.next = next;
    if (prev) prev.next = link;
    else this.head = link;
    if (next) next.prev = link;
  }

  private unlink(link: Link): void {
    if (link.prev) link.prev.next = link.next;
    if (link.next) link.next.prev = link.prev;
    if (this.head === link) this.head = link.next;
    link.prev = null;
    link.next = null;
  }
}
