import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { whyNoTools } from "../support/tools.ts";
import {
  engineNames,
  fullKey,
  openConsole,
  type OpenConsole,
  type WatchedPage,
} from "./open-console.ts";

const model = readFileSync(
  join(import.meta.dirname, "../../examples/models/documents-and-folders.perm"),
  "utf8",
);

/** The folder of a document lets its viewers edit. */
const changedModel = model.replace(
  "permission edit = editor or share or folder.edit",
  "permission edit = editor or share or folder.edit or folder.view",
);

const provingTest = `schema: model.perm
relationships:
  - document:budget#folder@folder:plans
  - folder:plans#viewer@user:vera
scenarios:
  - name: viewers of a folder edit its documents
    checks:
      - entity: document:budget
        subject: user:vera
        assertions:
          edit: true
`;

const skip = whyNoTools("chromium");

for (const engine of engineNames) {
  describe(`a user of the console on ${engine}`, { skip }, () => {
    let console: OpenConsole;
    let opened: WatchedPage;
    before(async () => {
      console = await openConsole(engine);
      opened = await console.page({ token: fullKey });
    });
    after(async () => {
      await opened.close();
      await console.close();
    });

    const button = async (name: string): Promise<void> =>
      await opened.page.getByRole("button", { name, exact: true }).click();
    const view = async (name: string): Promise<void> =>
      await opened.page.getByRole("navigation").getByRole("link", { name }).click();
    /** As a user types over everything. */
    const write = async (name: string, text: string): Promise<void> => {
      await opened.page.getByRole("textbox", { name, exact: true }).click();
      await opened.page.keyboard.press("ControlOrMeta+a");
      await opened.page.keyboard.insertText(text);
    };

    async function ask(subject: string, permission: string, entity: string): Promise<void> {
      await view("Ask");
      await opened.page.getByLabel("Subject", { exact: true }).fill(subject);
      await opened.page.getByLabel("Permission", { exact: true }).fill(permission);
      await opened.page.getByLabel("Entity", { exact: true }).fill(entity);
      await button("Ask");
    }

    test("finds out why a user may not, changes the model, proves it and publishes it", async () => {
      await opened.go("#/");
      await button("Load the example documents-and-folders");
      await opened.page.getByText("Published").waitFor();
      await ask("user:vera", "edit", "document:budget");
      await opened.page.getByText("Denied").waitFor();
      await opened.page.getByText("no tuple leads to the subject").first().waitFor();

      await view("Model");
      await write("Schema", changedModel);
      await opened.page.getByText("Not published").waitFor();
      await opened.page.getByRole("tab", { name: "Changes" }).click();
      await opened.page.locator(".cm-changedLine").first().waitFor();

      await button("Test it");
      await write("Test file", provingTest);
      await opened.page.getByText("1 passed").waitFor();
      await opened.page.locator(".cm-covered").first().waitFor();

      await button("Go to the model");
      await button("Publish");
      await opened.page.getByText("Published", { exact: true }).waitFor();
      await ask("user:vera", "edit", "document:budget");
      await opened.page.getByText("Allowed").waitFor();
      opened.assertClean();
    });

    test("is told of faults while typing, and cannot publish them", async () => {
      await opened.go("#/documents-and-folders/model?tab=problems");
      await write("Schema", "entity user {}\nentity document {\n  relation owner @nobody\n}\n");
      await opened.page.getByRole("button", { name: /^3:\d+ / }).waitFor();
      await opened.page.locator(".cm-lintRange-error").waitFor();
      assert.equal(await opened.page.getByRole("button", { name: "Publish" }).isDisabled(), true);
      await button("Discard changes");
      await opened.page.getByText("Published", { exact: true }).waitFor();
    });

    test("does not overwrite a schema that another user published", async () => {
      await opened.go("#/documents-and-folders/model");
      await write("Schema", `${changedModel}\n// mine\n`);
      await opened.page.getByText("Not published").waitFor();
      const theirs = `${changedModel}\n// theirs\n`;
      await console.call("documents-and-folders/schemas/write", { schema: theirs });
      await button("Publish");
      await opened.page.getByText(/the head is/).waitFor();
      await button("Read the new head");
      await opened.page.getByText("The head has changed since you began").waitFor();
      await button("Discard changes");
      await opened.page.getByText("// theirs").waitFor();
    });

    test("adds facts, sees them come in, filters and deletes them", async () => {
      const watching = await console.page({ token: fullKey });
      await watching.go("#/documents-and-folders/watch");
      await watching.page.getByText("Live").waitFor();
      await opened.go("#/documents-and-folders/data");
      await button("Add");
      await opened.page
        .getByLabel("Facts, one a line")
        .fill("document:new#viewer@user:zoe\ndocument:new$public|boolean:true\n");
      await opened.page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
      await opened.page.getByText("user:zoe").waitFor();
      await watching.page.getByText("document:new#viewer@user:zoe").waitFor();

      await opened.page.getByLabel("Entity ids").fill("new");
      await opened.page.getByLabel("Entity type").fill("document");
      await button("Show");
      await opened.page.getByText("tuples: 1").waitFor();
      await opened.page.getByLabel("Choose document:new#viewer@user:zoe").check();
      await button("Delete the chosen");
      await opened.page.getByText("Nothing is stored that matches").waitFor();
      await watching.page.getByText("deleted").waitFor();
      watching.assertClean();
      await watching.close();
    });

    test("is told which line of the facts is wrong", async () => {
      await opened.go("#/documents-and-folders/data");
      await button("Add");
      await opened.page.getByLabel("Facts, one a line").fill("document:a#viewer@user:b\nnonsense");
      await opened.page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
      await opened.page.getByText(/^Line 2:/).waitFor();
      await opened.page.keyboard.press("Escape");
      await opened.page.getByRole("dialog").waitFor({ state: "detached" });
    });

    test("is told which field of a question is wrong", async () => {
      await opened.go("#/documents-and-folders/ask");
      await ask("ada", "view", "document:budget");
      await opened.page
        .getByRole("alert")
        .getByText(/^Subject: expected/)
        .waitFor();
    });

    test("creates and deletes a tenant, whose id must be typed", async () => {
      await opened.go("#/");
      await button("New tenant");
      await opened.page.getByLabel("Id", { exact: false }).first().fill("short-lived");
      await button("Create");
      await opened.page.getByText("No version yet").waitFor();
      await view("Tenants");
      await button("Delete the tenant short-lived");
      const confirm = opened.page.getByRole("button", { name: "Delete it" });
      assert.equal(await confirm.isDisabled(), true);
      await opened.page.getByLabel("Type the id to confirm").fill("short-lived");
      await confirm.click();
      await opened.page.getByRole("dialog").waitFor({ state: "detached" });
      assert.equal(await opened.page.getByRole("link", { name: "short-lived" }).count(), 0);
    });
  });
}
