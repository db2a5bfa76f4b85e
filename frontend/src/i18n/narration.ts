/** The messages of what is smaller than a cycle, of the tour and of the end of a run, loaded with what shows them. */
import narration from "./messages/en.narration.json";
import { addEnglish } from "./translate";

addEnglish(narration);
