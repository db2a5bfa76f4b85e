/** A symbol for each plugin that rejects nodes in the everyday cases, in a 12 × 12 box with a stroke. */
export const PLUGIN_GLYPHS: Record<string, string> = {
  TaintToleration: "M6 1.5 L10 3 V6 A4.5 4.5 0 0 1 6 10.5 A4.5 4.5 0 0 1 2 6 V3 Z",
  NodeAffinity: "M2 6.5 L6.5 2 H10 V5.5 L5.5 10 Z M8 4 V4.1",
  PodTopologySpread: "M2 10.5 H10 M3.5 10 V6.5 M6 10 V2 M8.5 10 V5",
  VolumeBinding: "M2.5 3.2 A3.5 1.6 0 0 0 9.5 3.2 A3.5 1.6 0 0 0 2.5 3.2 V8.8 A3.5 1.6 0 0 0 9.5 8.8 V3.2",
  InterPodAffinity: "M5 6 H1.5 M3.2 4.2 L1.5 6 L3.2 7.8 M7 6 H10.5 M8.8 4.2 L10.5 6 L8.8 7.8",
  NodePorts: "M4 1.5 V4.5 M8 1.5 V4.5 M2.5 4.5 H9.5 V6 A3.5 3.5 0 0 1 2.5 6 Z M6 9.5 V11.5",
  NodeUnschedulable: "M2 6 A4 4 0 1 0 10 6 A4 4 0 1 0 2 6 M3.2 8.8 L8.8 3.2",
  SchedulingGates: "M2 1 V11 M10 1 V11 M2 4 H10 M2 8 H10",
};
