/** A sentence as an English template and its values, which can be translated. */
export interface Phrase {
  template: string;
  values: Record<string, string | number | Phrase>;
}
