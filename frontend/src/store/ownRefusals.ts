/** How many outcomes are kept for an acknowledgement that may still come. */
const MOST = 20;

/**
 * Why commands were refused, of those that one page sent: a session's stream tells the outcomes of everybody's. The acknowledgement of a
 * command and its outcome come in any order.
 */
export class OwnRefusals {
  private readonly mine = new Set<number>();
  private readonly early = new Map<number, string>();

  constructor(private readonly tell: (error: string) => void) {}

  /** The command with this number was sent from here. */
  own(seq: number): void {
    const error = this.early.get(seq);
    if (error === undefined) return void keep(this.mine, seq);
    this.early.delete(seq);
    this.tell(error);
  }

  /** The command with this number was refused. */
  take(seq: number, error: string): void {
    if (this.mine.delete(seq)) return this.tell(error);
    this.early.set(seq, error);
    if (this.early.size > MOST) this.early.delete(this.early.keys().next().value!);
  }
}

function keep(numbers: Set<number>, seq: number): void {
  numbers.add(seq);
  if (numbers.size > MOST) numbers.delete(numbers.values().next().value!);
}
