/** A sentence as an English template and its values, to be said in another language. */
export interface Phrase {
  template: string;
  values: Record<string, string | number | Phrase>;
}
