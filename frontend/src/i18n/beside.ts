/** Loads the English messages of what only v1.36 shows, and of comparing releases. Imported by the modules that need them, which are loaded on demand. */
import messages from "./messages/en.beside.json";
import { addEnglish } from "./translate";

addEnglish(messages);
