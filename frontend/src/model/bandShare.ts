/** How close the band is looked at, and its middle in shares of all of it: the same on a page of another size. */
export interface BandShare {
  zoom: number;
  x: number;
  y: number;
}
