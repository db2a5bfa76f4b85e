/** The messages about why a node won, loaded with what shows them. */
import because from "./messages/en.because.json";
import { addEnglish } from "./translate";

addEnglish(because);
