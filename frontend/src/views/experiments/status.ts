import type { ExperimentStatus } from "../../api/experiments";
import type { MessageKey } from "../../i18n/translate";

/** The words for the status of an experiment. */
export const STATUS = {
  checking: "experiments.checking",
  running: "status.running",
  paused: "status.paused",
  cancelled: "experiments.cancelled",
  finished: "experiments.finished",
  refused: "experiments.refused",
} as const satisfies Record<ExperimentStatus, MessageKey>;
