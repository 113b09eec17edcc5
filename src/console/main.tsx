import { render } from "preact";

import { App } from "./app/app.tsx";
import { applyTheme } from "./app/theme.ts";

applyTheme();
const root = document.querySelector("#app");
if (root === null) throw new Error("the page has a place for the console");
render(<App />, root);
