/** The English messages of a node's summary, its values and the life of its pods, loaded with them. */
import node from "./messages/en.node.json";
import { addEnglish } from "./translate";

addEnglish(node);
