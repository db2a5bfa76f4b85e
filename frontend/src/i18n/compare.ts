/** The messages of the page that compares sessions, loaded with what shows them. */
import compare from "./messages/en.compare.json";
import { addEnglish } from "./translate";

addEnglish(compare);
