/** Loads the English messages of what v1.36 does beside its cycles. Imported by the modules that need them, which are loaded on demand. */
import messages from "./messages/en.beside.json";
import { addEnglish } from "./translate";

addEnglish(messages);
