/** The zoom of the cache list's band, the small cells below its boxes and slips, and the center as a share of the whole band: independent of the page's size. */
export interface BandShare {
  zoom: number;
  x: number;
  y: number;
}
