/** The messages of lessons and everyday cases, loaded with what shows them. */
import lessons from "./messages/en.lessons.json";
import { addEnglish } from "./translate";

addEnglish(lessons);
