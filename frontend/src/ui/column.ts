/** A column of a table of rows. */
export interface Column<Row> {
  key: string;
  title: string;
  number?: boolean;
  grow?: boolean;
  text(row: Row): string;
  /** The sort key; a column without one cannot be sorted. */
  order?(row: Row): number | string;
}
