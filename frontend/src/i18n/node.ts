/** The English messages of a node's summary, loaded with it. */
import node from "./messages/en.node.json";
import { addEnglish } from "./translate";

addEnglish(node);
