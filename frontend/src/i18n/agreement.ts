/** The messages of the comparison of a cluster's scheduler with the simulated one, loaded with what shows it. */
import agreement from "./messages/en.agreement.json";
import { addEnglish } from "./translate";

addEnglish(agreement);
