/** The zoom of the band, and its center as a share of the whole band: independent of the page's size. */
export interface BandShare {
  zoom: number;
  x: number;
  y: number;
}
