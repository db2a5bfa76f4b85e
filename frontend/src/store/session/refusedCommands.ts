/** How many outcomes are remembered whose acknowledgement may still arrive. */
const MAX_REMEMBERED = 20;

/**
 * Reports why this page's own commands were refused: a session's stream has the outcomes of all clients' commands. The acknowledgement of
 * a command and its outcome arrive in any order.
 */
export class RefusedCommands {
  private readonly mine = new Set<number>();
  private readonly early = new Map<number, string>();

  constructor(private readonly report: (error: string) => void) {}

  /** The command with this number was sent by this page. */
  own(seq: number): void {
    const error = this.early.get(seq);
    if (error === undefined) return void keep(this.mine, seq);
    this.early.delete(seq);
    this.report(error);
  }

  /** The command with this number was refused. */
  take(seq: number, error: string): void {
    if (this.mine.delete(seq)) return this.report(error);
    this.early.set(seq, error);
    if (this.early.size > MAX_REMEMBERED) this.early.delete(this.early.keys().next().value!);
  }
}

function keep(numbers: Set<number>, seq: number): void {
  numbers.add(seq);
  if (numbers.size > MAX_REMEMBERED) numbers.delete(numbers.values().next().value!);
}
