/** The messages about how a pod came to its node, loaded with what shows them. */
import placed from "./messages/en.placed.json";
import { addEnglish } from "./translate";

addEnglish(placed);
