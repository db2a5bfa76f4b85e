import type { Results } from "../model/experiments/results";
import type { SessionSummary } from "./client";
import { BASE, call } from "./call";

export type ExperimentStatus = "checking" | "running" | "paused" | "cancelled" | "finished" | "refused";

export interface Experiment {
  id: string;
  name: string;
  status: ExperimentStatus;
  faults: { path: string; message: string; line: number; variant: string }[];
  nodes: number;
  pods: number;
  trials: number;
  done: number;
  failed: number;
  secondsPerTrial: number | null;
  remainingSeconds: number | null;
  /** A worker has yet to check a plan with more variants. */
  adding: boolean;
  createdAt: string;
}

export function listExperiments(): Promise<{ results: Experiment[]; count: number }> {
  return call("GET", "experiments/?limit=200");
}

/** With `hold`, its trials wait until it is resumed. Throws an `ApiError` whose sentence has the line of each fault. */
export function createExperiment(plan: string, hold: boolean): Promise<Experiment> {
  return call("POST", "experiments/", { body: { plan, hold } });
}

/** Replace the plan by one with more variants, which run beside those that it had. Throws an `ApiError` whose sentence has the line of each fault. */
export function addVariants(id: string, plan: string): Promise<Experiment> {
  return call("POST", `experiments/${id}/variants/`, { body: { plan } });
}

export function experiment(id: string): Promise<Experiment> {
  return call("GET", `experiments/${id}/`);
}

/** The results as the page draws them. */
export function experimentColumns(id: string): Promise<Results> {
  return call("GET", `experiments/${id}/results/?as=columns`);
}

/** The address of the results as one HTML file, or with a line for each trial. */
export function resultsAddress(id: string, form: "html" | "csv" | "json"): string {
  return `${BASE}experiments/${id}/results/?as=${form}`;
}

export function changeExperiment(id: string, change: "pause" | "resume" | "cancel"): Promise<Experiment> {
  return call("POST", `experiments/${id}/${change}/`);
}

export function deleteExperiment(id: string): Promise<void> {
  return call("DELETE", `experiments/${id}/`);
}

/** Run a trial again, with everything recorded; its session is being imported when this returns. */
export function openTrial(id: string, trial: number): Promise<SessionSummary & { page: string }> {
  return call("POST", `experiments/${id}/trials/${trial}/session/`);
}
