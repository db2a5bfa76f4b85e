/** The messages of the panels about devices, which are loaded with these. */
import devices from "./messages/en.devices.json";
import { addEnglish } from "./translate";

addEnglish(devices);
