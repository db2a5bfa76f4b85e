/** A stretch of a session: the moments from one to another. */
export interface Window {
  first: number;
  last: number;
}
