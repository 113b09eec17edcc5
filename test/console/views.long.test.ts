import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { whyNoTools } from "../support/tools.ts";
import {
  askingKey,
  engineNames,
  fullKey,
  openConsole,
  type OpenConsole,
  widths,
} from "./open-console.ts";

/** Each view with what stands in it when it is ready. */
const places = [
  ["tenants", "#/", "text=Multi tenant roles"],
  ["model", "#/documents-and-folders/model?at=document%23view", "svg .box-row.focus"],
  ["model-problems", "#/documents-and-folders/model?tab=problems", "text=No problems"],
  ["model-versions", "#/documents-and-folders/model?tab=versions", "text=Edit this text"],
  ["data", "#/documents-and-folders/data", "text=user:bob"],
  ["data-attributes", "#/documents-and-folders/data?kind=attributes", "text=$public"],
  [
    "data-filter",
    "#/documents-and-folders/data?subjectType=user&subjectIds=ivan",
    "text=tuples: 1",
  ],
  ["ask", "#/documents-and-folders/ask", "text=Check"],
  [
    "ask-allowed",
    "#/documents-and-folders/ask?mode=check&subject=user:ivan&permission=view&entity=document:budget",
    "text=Why they may",
  ],
  [
    "ask-graph",
    "#/documents-and-folders/ask?mode=check&subject=user:ivan&permission=view&entity=document:budget&tab=graph",
    "svg .edge.good",
  ],
  [
    "ask-plan",
    "#/documents-and-folders/ask?mode=check&subject=user:ivan&permission=view&entity=document:budget&tab=plan",
    "text=select",
  ],
  [
    "ask-denied",
    "#/documents-and-folders/ask?mode=check&subject=user:ivan&permission=delete&entity=document:budget",
    "text=What was tried",
  ],
  [
    "ask-who",
    "#/documents-and-folders/ask?mode=subjects&permission=view&entity=document:budget&of=user",
    "text=vera",
  ],
  [
    "ask-reach",
    "#/documents-and-folders/ask?mode=entities&subject=user:vera&permission=view&of=document",
    "[role=listitem] >> text=budget",
  ],
  [
    "ask-all",
    "#/documents-and-folders/ask?mode=all&subject=user:ada&entity=document:budget",
    "text=/\\d of \\d/",
  ],
  ["test", "#/documents-and-folders/test", "text=Nothing is asserted yet"],
  ["watch", "#/documents-and-folders/watch", "text=Live"],
] as const;

/** Colours do not depend on the engine: one of them shows both at each width. */
function themesFor(
  engine: (typeof engineNames)[number],
  width: (typeof widths)[number],
): readonly ("light" | "dark")[] {
  if (engine === "memory") return ["light", "dark"];
  return width === 390 ? ["dark"] : ["light"];
}

const skip = whyNoTools("chromium");

for (const engine of engineNames) {
  describe(`the views of the console on ${engine}`, { skip }, () => {
    let console: OpenConsole;
    before(async () => {
      console = await openConsole(engine);
      const opened = await console.page({ token: fullKey });
      await opened.go("#/");
      const load = { name: "Load the example documents-and-folders" };
      await opened.page.getByRole("button", load).click();
      await opened.page.getByText("Published").waitFor();
      opened.assertClean();
      await opened.close();
    });
    after(async () => await console.close());

    for (const width of widths) {
      for (const theme of themesFor(engine, width)) {
        test(`are ready, fit and are accessible at ${width} pixels, ${theme}`, async () => {
          const opened = await console.page({ width, theme, token: fullKey });
          for (const [name, hash, ready] of places) {
            await opened.go(hash);
            await opened.page.locator(ready).first().waitFor();
            await opened.assertAccessible();
            await opened.assertFits();
            await opened.picture(`${engine}-${name}`);
          }
          opened.assertClean();
          await opened.close();
        });
      }
    }

    test("say which scope a token lacks, and go on with what it may do", async () => {
      const opened = await console.page({ token: askingKey });
      await opened.go("#/documents-and-folders/data");
      await opened.page.getByRole("alert").getByText("`read`").waitFor();
      await opened.page.getByText("Your token may not do this").waitFor();
      assert.equal(await opened.page.getByText("user:bob").count(), 0);
      await opened.assertAccessible();
      await opened.go(
        "#/documents-and-folders/ask?mode=check&subject=user:ivan&permission=view&entity=document:budget",
      );
      await opened.page.getByText("Allowed").waitFor();
      await opened.close();
    });

    test("ask for a token when the server wants one, and forget it with the tab", async () => {
      const opened = await console.page({});
      await opened.go("#/");
      await opened.page.getByRole("button", { name: "Change the token" }).click();
      await opened.page.getByRole("textbox", { name: "Token" }).fill(fullKey);
      await opened.page.getByRole("button", { name: "Use this token" }).click();
      await opened.page.getByRole("link", { name: "documents-and-folders" }).waitFor();
      const kept = await opened.page.evaluate(() => [
        JSON.stringify(sessionStorage).includes("full-key"),
        JSON.stringify(localStorage).includes("full-key"),
        document.cookie,
        location.href.includes("full-key"),
      ]);
      assert.deepEqual(kept, [true, false, "", false]);
      await opened.close();
    });
  });
}
