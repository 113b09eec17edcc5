import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { whyNoTools } from "../support/tools.ts";
import {
  askingKey,
  elsewhereKey,
  engineNames,
  fullKey,
  openConsole,
  type OpenConsole,
  readingKey,
  type WatchedPage,
  widths,
} from "./open-console.ts";
import {
  blankTenant,
  type ConsolePlace,
  exampleTenant,
  readyPlaces,
  states,
  writeText,
} from "./places.ts";

/** Colours do not depend on the engine: one of them shows both at each width. */
function themesFor(
  engine: (typeof engineNames)[number],
  width: (typeof widths)[number],
): readonly ("light" | "dark")[] {
  if (engine === "memory") return ["light", "dark"];
  return width === 390 ? ["dark"] : ["light"];
}

/** Each view with the scope that it needs. */
const lackingPlaces = [
  ["#/", "read"],
  [`#/${exampleTenant}/model`, "read"],
  [`#/${exampleTenant}/model?tab=versions`, "read"],
  [`#/${exampleTenant}/data`, "read"],
  [`#/${exampleTenant}/data?kind=attributes`, "read"],
  [`#/${exampleTenant}/data?kind=about&about=document:budget`, "read"],
  [`#/${exampleTenant}/ask`, "read"],
  [`#/${exampleTenant}/test`, "read"],
  [`#/${exampleTenant}/watch`, "watch"],
] as const;

/** What only those see who may read the example. */
const secrets = /user:bob|folder\.edit|#owner|\$public/;

async function visit(
  opened: WatchedPage,
  { name, isShown, hash, ready, prepare, act }: ConsolePlace,
  engine: (typeof engineNames)[number],
): Promise<void> {
  await prepare?.(opened.page);
  await opened.go(hash);
  await act?.(opened.page);
  await opened.page.locator(ready).first().waitFor();
  await opened.assertAccessible();
  await opened.assertFits();
  if (engine === "memory") await opened.picture(name, isShown === true);
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
      await console.call("create", { id: blankTenant, name: "Blank" });
    });
    after(async () => await console.close());

    for (const width of widths) {
      for (const theme of themesFor(engine, width)) {
        test(`are ready, fit and are accessible at ${width} pixels, ${theme}`, async () => {
          const opened = await console.page({ width, theme, token: fullKey });
          for (const place of readyPlaces) await visit(opened, place, engine);
          opened.assertClean();
          await opened.close();
        });
      }
    }

    if (engine === "memory") {
      for (const width of widths) {
        for (const theme of ["light", "dark"] as const) {
          test(`help where there is nothing, not yet, or an error at ${width} pixels, ${theme}`, async () => {
            const opened = await console.page({ width, theme, token: fullKey });
            for (const place of states) {
              await visit(opened, place, engine);
              await opened.leave();
            }
            await opened.close();
          });
        }
      }
    }

    test("say which scope a token lacks, and go on with what it may do", async () => {
      const opened = await console.page({ token: askingKey });
      for (const [hash, scope] of lackingPlaces) {
        await opened.go(hash);
        await opened.page
          .locator("main")
          .getByText(`lacks the scope \`${scope}\``)
          .first()
          .waitFor();
        assert.doesNotMatch(await opened.page.locator("main").innerText(), secrets, hash);
        await opened.assertAccessible();
        if (scope === "watch") await opened.page.getByText("Refused").waitFor();
      }
      assert.equal(await opened.page.getByRole("combobox", { name: "Tenant" }).count(), 1);
      assert.equal(await opened.page.getByRole("option").count(), 1);
      await opened.go(
        "#/documents-and-folders/ask?mode=check&subject=user:ivan&permission=view&entity=document:budget",
      );
      await opened.page.getByText("Allowed").waitFor();
      await opened.close();
    });

    test("say which scope a change or a question lacks", async () => {
      const opened = await console.page({ token: readingKey });
      const { page } = opened;
      const button = async (name: string): Promise<void> =>
        await page.getByRole("button", { name, exact: true }).click();
      const isLacking = async (scope: string): Promise<void> =>
        await page.getByRole("alert").getByText(`lacks the scope \`${scope}\``).waitFor();
      await opened.go(`#/${exampleTenant}/model`);
      await writeText(page, "Schema", "entity user {}");
      await button("Publish");
      await isLacking("schema");
      await opened.go(`#/${exampleTenant}/data`);
      await button("Add");
      await page.getByLabel("Facts, one a line").fill("document:plan#viewer@user:ada");
      await page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
      await isLacking("write");
      await page.keyboard.press("Escape");
      await page.getByLabel("Choose document:budget#owner@user:ada").check();
      await button("Delete the chosen");
      await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
      await isLacking("write");
      await opened.go(`#/${exampleTenant}/ask?mode=all&subject=user:a&entity=document:budget`);
      await isLacking("check");
      await opened.go("#/");
      await button(`Load the example ${exampleTenant}`);
      await isLacking("tenant");
      await opened.close();
    });

    test("show nothing of a tenant that a token is not for", async () => {
      const opened = await console.page({ token: elsewhereKey });
      for (const [hash] of lackingPlaces) {
        await opened.go(hash);
        if (hash === "#/") {
          await opened.page.getByText("No tenant yet").waitFor();
          continue;
        }
        await opened.page.getByText("Your token is for other tenants").first().waitFor();
        assert.doesNotMatch(await opened.page.locator("main").innerText(), secrets, hash);
      }
      await opened.close();
    });

    test("ask for a token when the server wants one, and forget it with the tab", async () => {
      const opened = await console.page({});
      await opened.go("#/");
      await opened.page.getByRole("button", { name: "Enter a token" }).click();
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
