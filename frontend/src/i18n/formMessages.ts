import forms from "./messages/en.forms.json";
import { addEnglish } from "./translate";

// Imported for this effect by the forms, which are loaded when they are opened.
addEnglish(forms);
