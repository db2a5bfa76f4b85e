/** The messages of rooms, loaded with what shows them. */
import rooms from "./messages/en.rooms.json";
import { addEnglish } from "./translate";

addEnglish(rooms);
