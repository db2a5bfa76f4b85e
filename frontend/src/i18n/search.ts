/** The messages of what the search finds besides pods, nodes and commands, loaded with it. */
import search from "./messages/en.search.json";
import { addEnglish } from "./translate";

addEnglish(search);
