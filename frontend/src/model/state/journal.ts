/** Reverts one change. */
export type Undo = () => void;

/** Records how to revert changes while recording is on. The last change is reverted first. */
export class Journal {
  private undos: Undo[] | null = null;

  /** Whether changes are recorded. */
  get open(): boolean {
    return this.undos !== null;
  }

  record(undo: Undo): void {
    this.undos?.push(undo);
  }

  /** Run a function and return how to revert its changes. */
  during(work: () => void): Undo[] {
    const undos: Undo[] = [];
    this.undos = undos;
    try {
      work();
    } finally {
      this.undos = null;
    }
    return undos;
  }
}

export function revert(undos: readonly Undo[]): void {
  for (let i = undos.length - 1; i >= 0; i--) undos[i]!();
}

/** A map whose changes can be reverted. A restored entry is in the map again, but not at its old position. */
export class JournaledMap<Key, Value> extends Map<Key, Value> {
  constructor(private readonly journal: Journal) {
    super();
  }

  override set(key: Key, value: Value): this {
    if (this.journal.open) {
      const before = this.get(key);
      const had = before !== undefined || this.has(key);
      this.journal.record(() => {
        if (had) super.set(key, before as Value);
        else super.delete(key);
      });
    }
    return super.set(key, value);
  }

  override delete(key: Key): boolean {
    if (this.journal.open && this.has(key)) {
      const before = this.get(key) as Value;
      this.journal.record(() => super.set(key, before));
    }
    return super.delete(key);
  }

  override clear(): void {
    if (this.journal.open && this.size) {
      const before = [...this];
      this.journal.record(() => {
        for (const [key, value] of before) super.set(key, value);
      });
    }
    super.clear();
  }
}

/** A map that keeps insertion order, also after changes were reverted. */
export class InsertionOrderMap<Value> extends Map<string, Value> {
  private readonly insertions = new Map<string, number>();
  private last = 0;
  private disordered = false;

  constructor(private readonly journal: Journal) {
    super();
  }

  override set(key: string, value: Value): this {
    const before = this.insertions.has(key) ? this.get(key) : undefined;
    const isNew = !this.insertions.has(key);
    if (isNew) this.insertions.set(key, ++this.last);
    this.journal.record(() => {
      if (!isNew) super.set(key, before as Value);
      else this.drop(key);
    });
    return super.set(key, value);
  }

  override delete(key: string): boolean {
    const insertion = this.insertions.get(key);
    if (insertion === undefined) return false;
    const before = this.get(key) as Value;
    this.journal.record(() => {
      this.restore(key, before, insertion);
    });
    return this.drop(key);
  }

  override clear(): void {
    for (const key of [...this.insertions.keys()]) this.delete(key);
  }

  override keys(): MapIterator<string> {
    this.sort();
    return super.keys();
  }

  override values(): MapIterator<Value> {
    this.sort();
    return super.values();
  }

  override entries(): MapIterator<[string, Value]> {
    this.sort();
    return super.entries();
  }

  override [Symbol.iterator](): MapIterator<[string, Value]> {
    return this.entries();
  }

  private drop(key: string): boolean {
    this.insertions.delete(key);
    return super.delete(key);
  }

  private restore(key: string, value: Value, insertion: number): void {
    this.insertions.set(key, insertion);
    super.set(key, value);
    this.disordered = true;
  }

  private sort(): void {
    if (!this.disordered) return;
    this.disordered = false;
    const sorted = [...super.entries()].sort((a, b) => this.insertions.get(a[0])! - this.insertions.get(b[0])!);
    super.clear();
    for (const [key, value] of sorted) super.set(key, value);
  }
}

/** A set whose changes can be reverted. */
export class JournaledSet<Value> extends Set<Value> {
  constructor(private readonly journal: Journal) {
    super();
  }

  override add(value: Value): this {
    if (this.journal.open && !this.has(value)) this.journal.record(() => super.delete(value));
    return super.add(value);
  }

  override delete(value: Value): boolean {
    if (this.journal.open && this.has(value)) this.journal.record(() => super.add(value));
    return super.delete(value);
  }

  override clear(): void {
    if (this.journal.open) {
      const before = [...this];
      this.journal.record(() => {
        for (const value of before) super.add(value);
      });
    }
    super.clear();
  }
}

/** The members of an object, so that changed ones can be restored. Their values are never changed in place. */
export class Members {
  private readonly part: Record<string, unknown>;
  private readonly names: readonly string[];
  /** A single array that is reused: an object for each part and event was a sixteenth of the garbage of a replay. */
  private readonly before: unknown[];

  constructor(part: object) {
    this.part = part as Record<string, unknown>;
    this.names = Object.keys(part);
    this.before = this.names.map(() => undefined);
  }

  remember(): void {
    const { part, names, before } = this;
    for (let i = 0; i < names.length; i++) before[i] = part[names[i]!];
  }

  /** How to restore the remembered values; null: none has changed. */
  undo(): Undo | null {
    const { part, names, before } = this;
    const changed: { name: string; value: unknown }[] = [];
    for (let i = 0; i < names.length; i++) if (part[names[i]!] !== before[i]) changed.push({ name: names[i]!, value: before[i] });
    if (!changed.length) return null;
    return () => {
      for (const { name, value } of changed) part[name] = value;
    };
  }
}
