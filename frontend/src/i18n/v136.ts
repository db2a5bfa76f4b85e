/** The messages of what only v1.36 shows, and of comparing releases, loaded with what shows them. */
import messages from "./messages/en.v136.json";
import { addEnglish } from "./translate";

addEnglish(messages);
