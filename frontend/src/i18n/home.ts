/** The messages of the pages that create and list sessions, loaded with them. */
import home from "./messages/en.home.json";
import { addEnglish } from "./translate";

addEnglish(home);
