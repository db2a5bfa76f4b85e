/** The messages of the forms, loaded with them. */
import forms from "./messages/en.forms.json";
import { addEnglish } from "./translate";

addEnglish(forms);
