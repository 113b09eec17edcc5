import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { whyNoTools } from "../support/tools.ts";
import { engineNames, fullKey, openConsole, type OpenConsole } from "./open-console.ts";

const skip = whyNoTools("chromium");

/** Values that would do something if they were read as anything but text. */
const hostile = [
  `<img src=x onerror="document.title='broken'">`,
  `"><script>document.title='broken'</script>`,
  `javascript:document.title='broken'`,
  "\u202Etxt.exe\u202C\u2066",
  "x".repeat(4_000),
  "{{constructor}}",
];

/** The longest id, and one of all marks that an id may have. */
const oddIds = ["x".repeat(128), "a.b@c:d+e-f_g"];

function viewerTuple({ entity, subject }: { readonly entity: string; readonly subject: string }) {
  return {
    entity: { type: "doc", id: entity },
    relation: "viewer",
    subject: { type: "user", id: subject },
  };
}

/** The names of a schema have no digits. */
function kind(index: number): string {
  const letters = String(index).replaceAll(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "");
  return `kind_${letters}`;
}

const largeSchema = [
  "entity user {}",
  ...Array.from({ length: 200 }, (_, index) => {
    const parent = index === 0 ? "" : `  relation parent @${kind(index - 1)}\n`;
    const view = index === 0 ? "owner or viewer" : "owner or viewer or parent.view";
    const own = "  relation owner @user\n  relation viewer @user\n";
    return `entity ${kind(index)} {\n${parent}${own}  permission view = ${view}\n}`;
  }),
].join("\n");

for (const engine of engineNames) {
  describe(`the console on ${engine}`, { skip }, () => {
    let console: OpenConsole;
    before(async () => (console = await openConsole(engine)));
    after(async () => await console.close());

    test("shows hostile values as text", async () => {
      await console.call("create", { id: "hostile", name: hostile[0] });
      await console.call("hostile/schemas/write", {
        schema:
          "// <img src=x onerror=alert(1)>\nentity user {}\nentity doc { relation viewer @user\n attribute note string\n permission view = viewer }",
      });
      await console.call("hostile/data/write", {
        metadata: {},
        attributes: hostile.map((data, index) => ({
          entity: { type: "doc", id: String(index) },
          attribute: "note",
          value: { "@type": "type.googleapis.com/base.v1.StringValue", data },
        })),
        tuples: oddIds.flatMap((id) => [
          viewerTuple({ entity: id, subject: "a" }),
          viewerTuple({ entity: "0", subject: id }),
        ]),
      });
      const opened = await console.page({ token: fullKey });
      for (const hash of [
        "#/",
        "#/hostile/model",
        "#/hostile/data",
        "#/hostile/data?kind=attributes",
        ...[...hostile, ...oddIds].flatMap((id) => {
          const entity = encodeURIComponent(`doc:${id}`);
          return [
            `#/hostile/data?kind=about&about=${entity}`,
            `#/hostile/ask?mode=check&permission=view&subject=user:a&entity=${entity}`,
          ];
        }),
        "#/hostile/ask?mode=subjects&permission=view&entity=doc:0&of=user",
        "#/hostile/ask?mode=entities&permission=view&subject=user:a&of=doc",
        `#/hostile/ask?mode=check&permission=view&entity=doc:1&subject=${encodeURIComponent(`user:${hostile[0]}`)}`,
        `#/hostile/watch?filter=${encodeURIComponent(hostile[0] ?? "")}`,
        `#/${encodeURIComponent(hostile[0] ?? "")}/model`,
      ]) {
        await opened.go(hash);
        await opened.page.locator("main .panel, main .notice, main .answer").first().waitFor();
        assert.equal(await opened.page.locator("main img, main script").count(), 0, hash);
        assert.match(await opened.page.title(), /Pemba$/);
        await opened.assertFits();
      }
      await opened.close();
    });

    test("draws few rows of many, and goes on through all of them", async () => {
      const count = 10_000;
      await console.call("create", { id: "many", name: "many" });
      await console.call("many/schemas/write", {
        schema: "entity user {} entity doc { relation viewer @user permission view = viewer }",
      });
      for (let first = 0; first < count; first += 1_000) {
        await console.call("many/data/write", {
          metadata: {},
          tuples: Array.from({ length: 1_000 }, (_, index) => ({
            entity: { type: "doc", id: "d" },
            relation: "viewer",
            subject: { type: "user", id: String(first + index).padStart(5, "0") },
          })),
        });
      }
      const opened = await console.page({ token: fullKey });
      await opened.go("#/many/ask?mode=subjects&permission=view&entity=doc:d&of=user");
      const list = opened.page.getByRole("list", { name: "Ids" });
      await list.getByText("00000").waitFor();
      for (const id of ["00099", "00199", "00299"]) {
        // The next page may still be on its way when the end is reached the first time.
        await list.evaluate(async (element, text) => {
          while (!element.textContent.includes(text)) {
            element.scrollTo(0, element.scrollHeight);
            await new Promise(requestAnimationFrame);
          }
        }, id);
        assert.ok((await list.getByRole("listitem").count()) < 60);
      }
      await opened.close();
    });

    test("lays out a schema of 200 types away from the page, and draws what is in sight", async () => {
      await console.call("create", { id: "large", name: "large" });
      await console.call("large/schemas/write", { schema: largeSchema });
      const opened = await console.page({ token: fullKey });
      await opened.go(`#/large/model?at=${kind(150)}%23view`);
      await opened.page.locator("svg .box-row.focus").waitFor();
      assert.ok((await opened.page.locator("svg .box").count()) < 60);
      await opened.assertFits();
      await opened.close();
    });

    test("is used by keys alone", async () => {
      await console.call("create", { id: "keys", name: "keys" });
      await console.call("keys/schemas/write", {
        schema: "entity user {} entity doc { relation viewer @user permission view = viewer }",
      });
      const opened = await console.page({ token: fullKey });
      const { page } = opened;
      await opened.go("#/keys/ask?mode=check&subject=user:a&permission=view&entity=doc:1");
      await page.getByText("Denied").waitFor();
      const focused = async (): Promise<string> =>
        await page.evaluate(() => document.activeElement?.textContent ?? "");
      await page.keyboard.press("Tab");
      assert.equal(await focused(), "Skip to the view");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      assert.equal(await focused(), "Check");
      await page.keyboard.press("ArrowRight");
      assert.equal(await focused(), "Who can");
      const tree = page.getByRole("tree", { name: "Proof" });
      await tree.focus();
      await page.keyboard.press("ArrowDown");
      const chosen = tree.locator("[aria-selected=true]");
      assert.match(await chosen.innerText(), /viewer/);
      assert.equal(
        await tree.getAttribute("aria-activedescendant"),
        await chosen.getAttribute("id"),
      );
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowLeft");
      assert.equal(await tree.getByRole("treeitem").count(), 1);
      await page.getByRole("tab", { name: "Expression" }).focus();
      await page.keyboard.press("ArrowRight");
      const graph = page.locator("svg[role=img]");
      const drawing = page.locator("svg[role=img] > g");
      await graph.waitFor();
      const before = await drawing.getAttribute("transform");
      await graph.focus();
      await page.keyboard.press("+");
      await page.keyboard.press("ArrowRight");
      assert.notEqual(await drawing.getAttribute("transform"), before);
      await opened.close();
    });

    test("keeps the chosen colours, and takes those of the system until then", async () => {
      const opened = await console.page({ token: fullKey, theme: "dark" });
      const ground = async (): Promise<string> =>
        await opened.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      await opened.go("#/");
      const dark = await ground();
      await opened.page.getByRole("button", { name: /change to: Light/ }).click();
      const light = await ground();
      assert.notEqual(light, dark);
      await opened.go("#/");
      assert.equal(await ground(), light);
      await opened.close();
    });
  });
}
