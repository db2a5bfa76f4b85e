/** What a page can do with trials. A report has no server, and names the commands instead. */
export interface TrialActions {
  /** Open a trial, by its number, as a session at its end. */
  open: (trial: number) => Promise<void>;
  /** Open two trials beside each other at the first cycle that differs. */
  compare: (a: number, b: number) => Promise<void>;
}
