/** A range of a session, between two moments. */
export interface Window {
  first: number;
  last: number;
}
