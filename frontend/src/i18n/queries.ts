/** The messages of explanations, exports and forks, loaded with what shows them. */
import queries from "./messages/en.queries.json";
import { addEnglish } from "./translate";

addEnglish(queries);
