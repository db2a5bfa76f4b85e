/** A column of a table of `Row`s. */
export interface Column<Row> {
  key: string;
  title: string;
  number?: boolean;
  grow?: boolean;
  text(row: Row): string;
  /** What to sort by; a column without it is not sorted. */
  order?(row: Row): number | string;
}
