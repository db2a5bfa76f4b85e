/** The messages of experiments, loaded with their pages, and in their reports. */
import experiments from "./messages/en.experiments.json";
import { addEnglish } from "./translate";

addEnglish(experiments);
