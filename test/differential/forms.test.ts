import { testRandomForms } from "./random-forms.ts";

testRandomForms(10);
