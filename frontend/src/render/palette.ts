/** The colours of the theme in force, read from its tokens: a canvas draws with what the page is drawn with. */
export interface Palette {
  paper: string;
  ink: string;
  ink2: string;
  ink3: string;
  line: string;
  lineStrong: string;
  hover: string;
  fill: string;
  fillBack: string;
  waterline: string;
  waterlineWash: string;
  selected: string;
  selectedBack: string;
  assumed: string;
  success: string;
  unschedulable: string;
  unresolvable: string;
  error: string;
  wait: string;
  skip: string;
  font: string;
}

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const token = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    paper: token("paper"),
    ink: token("ink"),
    ink2: token("ink-2"),
    ink3: token("ink-3"),
    line: token("line"),
    lineStrong: token("line-strong"),
    hover: token("hover"),
    fill: token("fill"),
    fillBack: token("fill-back"),
    waterline: token("waterline"),
    waterlineWash: token("waterline-wash"),
    selected: token("selected"),
    selectedBack: token("selected-back"),
    assumed: token("assumed"),
    success: token("success"),
    unschedulable: token("unschedulable"),
    unresolvable: token("unresolvable"),
    error: token("error"),
    wait: token("wait"),
    skip: token("skip"),
    font: token("font"),
  };
}

/** The colour of a Status code, the same as on every panel. */
export function statusColour(code: string, palette: Palette): string {
  switch (code) {
    case "Success":
      return palette.success;
    case "Unschedulable":
      return palette.unschedulable;
    case "UnschedulableAndUnresolvable":
      return palette.unresolvable;
    case "Wait":
      return palette.wait;
    case "Error":
      return palette.error;
    default:
      return palette.skip;
  }
}
