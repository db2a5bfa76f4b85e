/** A sentence of the server: an English template, which is the key of its translations, and its values. */
export interface Phrase {
  template: string;
  values: Record<string, string | number | Phrase>;
}
