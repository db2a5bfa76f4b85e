import { LOAD_CLASSES } from "../model/cache/load";

/** The colors of the current theme, for canvases. */
export interface Palette {
  paper: string;
  paperRaised: string;
  ink: string;
  ink2: string;
  ink3: string;
  line: string;
  lineStrong: string;
  hover: string;
  fill: string;
  fillBack: string;
  /** The colors of the load classes (model/cache/load.ts); the first is that of an empty node. */
  load: readonly string[];
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
  pending: string;
  skip: string;
  font: string;
}

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  // The value of a custom property is its text, such as `light-dark(…)`. Only a real property has the resolved color.
  const probe = element.ownerDocument.createElement("span");
  element.parentElement!.append(probe);
  const probed = getComputedStyle(probe);
  const token = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return probed.color;
  };
  const palette = {
    paper: token("paper"),
    paperRaised: token("paper-raised"),
    ink: token("ink"),
    ink2: token("ink-2"),
    ink3: token("ink-3"),
    line: token("line"),
    lineStrong: token("line-strong"),
    hover: token("hover"),
    fill: token("fill"),
    fillBack: token("fill-back"),
    load: Array.from({ length: LOAD_CLASSES }, (_, index) => token(`load-${index}`)),
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
    pending: token("pending"),
    skip: token("skip"),
    font: style.getPropertyValue("--font").trim(),
  };
  probe.remove();
  return palette;
}

/** The color of a Status code, as on every panel. */
export function statusColor(code: string, palette: Palette): string {
  switch (code) {
    case "Success":
      return palette.success;
    case "Unschedulable":
      return palette.unschedulable;
    case "UnschedulableAndUnresolvable":
      return palette.unresolvable;
    case "Wait":
      return palette.wait;
    case "Pending":
      return palette.pending;
    case "Error":
      return palette.error;
    default:
      return palette.skip;
  }
}
