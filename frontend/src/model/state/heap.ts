import { Journal } from "./journal";

/**
 * A keyed heap with the array layout of Go's container/heap: the page draws the array, and pods of equal rank must be popped in
 * the scheduler's order.
 *
 * Upstream: internal/heap/heap.go Heap, over container/heap.
 */
export class KeyedHeap<T> {
  /** The heap's array. The first item is popped next. */
  array: T[] = [];
  private places = new Map<string, number>();

  constructor(
    private readonly key: (item: T) => string,
    private readonly less: (a: T, b: T) => boolean,
    private readonly journal = new Journal(),
  ) {}

  get size(): number {
    return this.array.length;
  }

  get(key: string): T | undefined {
    const index = this.places.get(key);
    return index === undefined ? undefined : this.array[index];
  }

  /** Adopt the array of another heap with the same order. */
  load(array: Iterable<T>): void {
    const { array: before, places } = this;
    this.journal.record(() => {
      this.array = before;
      this.places = places;
    });
    this.array = [];
    this.places = new Map();
    for (const item of array) {
      this.places.set(this.key(item), this.array.length);
      this.array.push(item);
    }
  }

  /** Insert an item, or replace the item with its key and restore the order. */
  add(item: T): void {
    const key = this.key(item);
    const index = this.places.get(key);
    if (index === undefined) {
      this.places.set(key, this.array.length);
      this.array.push(item);
      this.journal.record(() => {
        this.places.delete(key);
        this.array.pop();
      });
      this.up(this.array.length - 1);
    } else {
      const before = this.array[index]!;
      this.journal.record(() => {
        this.array[index] = before;
      });
      this.array[index] = item;
      if (!this.down(index, this.array.length)) this.up(index);
    }
  }

  /** Remove and return the first item. */
  pop(): T | undefined {
    if (this.array.length === 0) return undefined;
    const last = this.array.length - 1;
    this.swap(0, last);
    this.down(0, last);
    return this.dropLast();
  }

  /** Remove and return the item with this key. */
  remove(key: string): T | undefined {
    const index = this.places.get(key);
    if (index === undefined) return undefined;
    const last = this.array.length - 1;
    if (last !== index) {
      this.swap(index, last);
      if (!this.down(index, last)) this.up(index);
    }
    return this.dropLast();
  }

  /** The first items in pop order. The heap does not change. */
  inPopOrder(count = Infinity): T[] {
    const copy = new KeyedHeap(this.key, this.less);
    copy.load(this.array);
    const order: T[] = [];
    while (order.length < count) {
      const item = copy.pop();
      if (item === undefined) break;
      order.push(item);
    }
    return order;
  }

  private dropLast(): T {
    const item = this.array.pop()!;
    this.places.delete(this.key(item));
    this.journal.record(() => {
      this.places.set(this.key(item), this.array.length);
      this.array.push(item);
    });
    return item;
  }

  private swap(i: number, j: number): void {
    if (this.journal.open)
      this.journal.record(() => {
        this.exchange(i, j);
      });
    this.exchange(i, j);
  }

  private exchange(i: number, j: number): void {
    const a = this.array[i]!;
    const b = this.array[j]!;
    this.array[i] = b;
    this.array[j] = a;
    this.places.set(this.key(b), i);
    this.places.set(this.key(a), j);
  }

  private up(start: number): void {
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.less(this.array[index]!, this.array[parent]!)) break;
      this.swap(parent, index);
      index = parent;
    }
  }

  private down(start: number, end: number): boolean {
    let index = start;
    for (;;) {
      const left = 2 * index + 1;
      if (left >= end) break;
      const right = left + 1;
      const child = right < end && this.less(this.array[right]!, this.array[left]!) ? right : left;
      if (!this.less(this.array[child]!, this.array[index]!)) break;
      this.swap(index, child);
      index = child;
    }
    return index > start;
  }
}
