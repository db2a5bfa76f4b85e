/** The messages of what the stages of a cycle do, loaded with what shows them. */
import stages from "./messages/en.stages.json";
import { addEnglish } from "./translate";

addEnglish(stages);
