/** Mounts the page that the shell asks for (`data-page` of `#app`). */
import "./theme/tokens.css";

const root = document.getElementById("app");
if (root) root.textContent = "schedviz";
