/** The messages about what follows a Status, and about preemption, loaded with what shows them. */
import outcomes from "./messages/en.outcomes.json";
import { addEnglish } from "./translate";

addEnglish(outcomes);
