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

const exampleTest = readFileSync(
  join(import.meta.dirname, "../../examples/models/documents-and-folders.yaml"),
  "utf8",
);

/** The test with the check that a user has added and turned, and with what the change does to the others. */
const provingTest = exampleTest.replace(
  "edit: [ada, bob, emil, ivan, olga, sara, tina]",
  "edit: [ada, bob, emil, gus, ivan, olga, sara, tina, vera]",
).concat(`
  - name: user:vera edit document:budget
    checks:
      - entity: document:budget
        subject: user:vera
        assertions: { edit: true }
`);

/** In the page: whether a text stands in its field. */
function hasText(text: string): boolean {
  return document.querySelector("textarea")?.value === text;
}

function snapTokenOf(answer: unknown): string {
  assert.ok(typeof answer === "object" && answer !== null && "snap_token" in answer);
  return String(answer.snap_token);
}

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
      let actions = 0;
      const done = async (action: Promise<void>): Promise<void> => {
        actions += 1;
        await action;
      };
      await opened.go("#/");
      await done(button("Load the example documents-and-folders"));
      await opened.page.getByText("Published").waitFor();
      await done(view("Ask"));
      // The ids that are stored are offered, so a new user need not know one.
      await done(opened.page.getByLabel("Subject", { exact: true }).fill("user:"));
      await opened.page
        .locator("datalist option[value='user:vera']")
        .waitFor({ state: "attached" });
      await done(opened.page.getByLabel("Subject", { exact: true }).fill("user:vera"));
      await done(opened.page.getByLabel("Permission", { exact: true }).fill("edit"));
      await done(opened.page.getByLabel("Entity", { exact: true }).fill("document:budget"));
      await done(button("Ask"));
      await opened.page.getByText("Denied").waitFor();
      await opened.page.getByText("no tuple leads to the subject").first().waitFor();

      await done(button("Add to the test"));
      await opened.page.getByText("14 passed").waitFor();
      await done(write("Test file", provingTest));
      await opened.page.getByText("2 failed").waitFor();
      await done(write("Model", changedModel));
      await opened.page.getByText("14 passed").waitFor();
      assert.equal(await opened.page.getByText("failed", { exact: true }).count(), 0);
      await opened.page.locator(".cm-covered").first().waitFor();

      await done(view("Ask"));
      await opened.page.getByText("is not published").waitFor();
      await opened.page.getByText("Denied").waitFor();
      await done(
        opened.page.getByRole("main").getByRole("link", { name: "Go to the model" }).click(),
      );
      await done(opened.page.getByRole("tab", { name: "Changes" }).click());
      await opened.page.locator(".cm-changedLine").first().waitFor();
      await done(button("Publish"));
      await opened.page.getByText("Published", { exact: true }).waitFor();
      await done(view("Ask"));
      await opened.page.getByText("Allowed").waitFor();
      assert.ok(actions <= 16, `${actions} actions`);
      opened.assertClean();
    });

    test("finds the fields of a question as they were left", async () => {
      await opened.go("#/documents-and-folders/ask");
      const subject = opened.page.getByLabel("Subject", { exact: true });
      await subject.fill("user:half");
      await view("Data");
      await opened.page.getByText("user:bob").waitFor();
      await view("Ask");
      await subject.waitFor();
      assert.equal(await subject.inputValue(), "user:half");
      await opened.page.reload();
      await subject.waitFor();
      assert.equal(await subject.inputValue(), "user:half");
    });

    test("sees all that touches an entity or a subject by one address", async () => {
      await opened.go("#/documents-and-folders/data");
      await opened.page.getByRole("link", { name: "group:staff#member" }).first().click();
      assert.match(new URL(opened.page.url()).hash, /kind=about/);
      const asEntity = opened.page.getByRole("region", { name: "As an entity" });
      const asSubject = opened.page.getByRole("region", { name: "As a subject" });
      await asEntity.getByText("group:interns#member").waitFor();
      await asEntity.getByText("user:sara").waitFor();
      await asSubject.getByText("folder:company").waitFor();
      await opened.go("#/documents-and-folders/data?kind=about&about=document:news");
      await asEntity.getByText("$public").waitFor();
      await asSubject.getByText("No tuple has").waitFor();
      await opened.go("#/documents-and-folders/data?kind=about&about=nothing");
      await opened.page
        .getByText(/^Entity or subject: expected/)
        .first()
        .waitFor();
    });

    test("renames a relation in the model and in the test file beside it, by keys alone", async () => {
      await opened.go("#/documents-and-folders/test");
      await write("Test file", provingTest);
      await opened.page.getByText("14 passed").waitFor();
      const { keyboard } = opened.page;
      await opened.page.getByRole("textbox", { name: "Model", exact: true }).click();
      await keyboard.press("ControlOrMeta+f");
      await keyboard.type("relation folder");
      await keyboard.press("Enter");
      await keyboard.press("Escape");
      await keyboard.press("F2");
      const field = opened.page.getByRole("textbox", { name: "New name of folder" });
      await field.waitFor();
      await field.fill("owner");
      await keyboard.press("Enter");
      await opened.page.getByText("Entity `document` already has `owner`.").waitFor();
      await keyboard.press("Escape");
      await field.waitFor({ state: "detached" });
      await keyboard.press("F2");
      await field.fill("parent");
      await keyboard.press("Enter");
      await opened.page
        .getByText("Renamed at 6 places, 1 of them in the text beside it.")
        .waitFor();
      await opened.page.getByText("document:budget#parent@folder:plans").waitFor();
      await opened.page.getByText("14 passed").waitFor();

      await keyboard.press("Shift+F12");
      await opened.page.getByText("Named at 6 places", { exact: true }).waitFor();
      await keyboard.press("ArrowUp");
      await keyboard.press("Enter");
      const focused = opened.page.locator(":focus");
      await opened.page
        .getByRole("textbox", { name: "Test file", exact: true })
        .and(focused)
        .waitFor();
      await keyboard.press("F12");
      await opened.page.getByRole("textbox", { name: "Model", exact: true }).and(focused).waitFor();
      opened.assertClean();
    });

    test("is offered names and ids in a test file", async () => {
      await opened.go("#/documents-and-folders/test");
      await write(
        "Test file",
        "schema: model.perm\nrelationships:\n  - folder:plans#viewer@user:ada\n  - ",
      );
      const offered = opened.page.getByRole("listbox", { name: "Completions" });
      for (const [typed, choice] of [
        ["doc", "document"],
        ["budget#ed", "editor"],
        ["gr", "group"],
        ["staff#m", "member"],
      ] as const) {
        await opened.page.keyboard.type(typed);
        // A key that follows at once is taken for one of the text.
        await offered.getByRole("option", { name: new RegExp(`^${choice}`) }).click();
      }
      await opened.page.getByText("document:budget#editor@group:staff#member").waitFor();
      await opened.page.keyboard.press("Enter");
      await opened.page.keyboard.type("- folder:");
      await offered.getByRole("option", { name: /^plans/ }).waitFor();
      opened.assertClean();
    });

    test("sees in the graph what the cursor is in, and goes from the graph to the text", async () => {
      await opened.go("#/documents-and-folders/model");
      const editor = opened.page.getByRole("textbox", { name: "Schema", exact: true });
      const chosen = opened.page.locator("svg .box-row.focus");
      await editor.getByText("delete", { exact: true }).click();
      await chosen.getByText("delete").waitFor();
      await opened.page.locator("svg .box-row").getByText("member").click();
      await chosen.getByText("member").waitFor();
      await editor.locator(".cm-activeLine").getByText("member").first().waitFor();
    });

    test("has a schema laid out", async () => {
      await opened.go("#/documents-and-folders/model");
      await write("Schema", "entity   user{}\nentity doc {relation owner   @user}");
      await opened.page.getByText("Not published").waitFor();
      await button("Format");
      const line = opened.page.locator(".cm-line");
      const laidOut = line.getByText("relation owner @user", { exact: true });
      await laidOut.waitFor();
      assert.equal(await laidOut.innerText(), "  relation owner @user");
      await button("Discard changes");
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
      const notice = opened.page.getByRole("alert");
      await notice.getByText("The head has changed since you began").waitFor();
      assert.doesNotMatch(await notice.innerText(), /expected_head/i);
      // Their text and mine stand beside each other.
      await opened.page.getByRole("tab", { name: "Changes", selected: true }).waitFor();
      await opened.page.getByText("// theirs").waitFor();
      await opened.page.getByText("// mine").first().waitFor();
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
      const dialog = opened.page.getByRole("dialog");
      await dialog.getByText("This deletes 1 tuple. It cannot be undone.").waitFor();
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await opened.page.getByText("user:zoe").waitFor();
      await button("Delete the chosen");
      await dialog.getByRole("button", { name: "Delete", exact: true }).click();
      await opened.page.getByText("Nothing is stored that matches").waitFor();
      await watching.page.getByText("deleted").waitFor();
      watching.assertClean();
      await watching.close();
    });

    test("adds the facts of files that are chosen and dropped", async () => {
      await opened.go("#/documents-and-folders/data");
      await button("Add");
      const dialog = opened.page.getByRole("dialog");
      const field = opened.page.getByLabel("Facts, one a line");
      const dropped = "document:dropped#viewer@user:dan";
      const chosen = "schema: model.perm\nrelationships:\n  - document:chosen#viewer@user:fay\n";
      const file = await opened.page.evaluateHandle((text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], "facts.txt"));
        return data;
      }, dropped);
      await field.dispatchEvent("drop", { dataTransfer: file });
      await opened.page.waitForFunction(hasText, dropped);
      await dialog.getByRole("button", { name: "Add" }).click();
      await opened.page.getByText("user:dan").waitFor();
      await button("Add");
      await opened.page
        .getByLabel("A file with facts")
        .setInputFiles({ name: "test.yaml", mimeType: "text/yaml", buffer: Buffer.from(chosen) });
      await opened.page.waitForFunction(hasText, chosen);
      await dialog.getByRole("button", { name: "Add" }).click();
      await opened.page.getByText("user:fay").waitFor();
    });

    test("asks with facts of a context, and at an older state", async () => {
      const past = { type: "user", id: "past" };
      const plan = { type: "document", id: "plan" };
      const written = await console.call("documents-and-folders/data/write", {
        metadata: {},
        tuples: [{ entity: plan, relation: "viewer", subject: past }],
      });
      await console.call("documents-and-folders/data/delete", {
        tuple_filter: {
          entity: { type: "document", ids: ["plan"] },
          relation: "viewer",
          subject: { type: "user", ids: [past.id], relation: "" },
        },
        attribute_filter: { entity: { type: "", ids: [] }, attributes: [] },
      });
      await opened.go("#/documents-and-folders/ask");
      await ask("user:xena", "view", "document:plan");
      await opened.page.getByText("Denied").waitFor();
      const further = opened.page.getByText("Context, snap token and depth");
      await further.click();
      const facts = opened.page.getByLabel("Facts for this question alone");
      await facts.fill("document:plan#viewer@user:xena");
      await button("Ask");
      await opened.page.getByText("Allowed").waitFor();
      await facts.fill("// refused\ndocument:plan#nothing@user:xena");
      await button("Ask");
      await opened.page.getByText("line 2: `nothing` is not a relation of `document`").waitFor();
      await facts.fill("");
      await ask("user:past", "view", "document:plan");
      await opened.page.getByText("Denied").waitFor();
      await further.click();
      const snap = opened.page.getByLabel("Snap token");
      await snap.fill(snapTokenOf(written));
      await button("Ask");
      await opened.page.getByText("Allowed").waitFor();
      await snap.fill("");
    });

    test("is told which line of the facts is wrong", async () => {
      await opened.go("#/documents-and-folders/data");
      await button("Add");
      await opened.page.getByLabel("Facts, one a line").fill("document:a#viewer@user:b\nnonsense");
      await opened.page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
      await opened.page.getByText(/^Line 2:/).waitFor();
      // Both kinds of facts are counted by themselves in a request.
      await opened.page
        .getByLabel("Facts, one a line")
        .fill("// refused\ndocument:a$public|boolean:true\ndocument:a#nothing@user:b");
      await opened.page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
      await opened.page.getByText(/^Line 3: `nothing` is not a relation of `document`/).waitFor();
      await opened.page.keyboard.press("Escape");
      await opened.page.getByRole("dialog").waitFor({ state: "detached" });
    });

    test("sees the permissions that have an answer beside one that has none", async () => {
      const schema = `entity user {}
entity doc {
  relation owner @user
  attribute ends double
  permission edit = owner and open(ends)
  permission view = owner
}
rule open(ends double) { context.data.now < ends }`;
      const owns = {
        entity: { type: "doc", id: "1" },
        relation: "owner",
        subject: { type: "user", id: "ada" },
      };
      await console.call("create", { id: "ruled", name: "ruled" });
      await console.call("ruled/schemas/write", { schema });
      await console.call("ruled/data/write", { metadata: {}, tuples: [owns] });
      await opened.go("#/ruled/ask?mode=all&subject=user:ada&entity=doc:1");
      await opened.page.getByText("2 of 3").waitFor();
      await opened.page.getByText("no answer").waitFor();
      await button("Why edit");
      await opened.page.getByText("no such key: `now`").waitFor();
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
      await opened.page.getByRole("link", { name: "short-lived" }).waitFor({ state: "detached" });
    });
  });
}
