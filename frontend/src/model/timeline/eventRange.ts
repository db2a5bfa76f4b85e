/** A range of a session, between two moments. */
export interface EventRange {
  first: number;
  last: number;
}
