import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Page } from "playwright-core";

/** A part of the console, and what stands in it when it is ready. */
export interface ConsolePlace {
  readonly name: string;
  /** The address behind the one of the console. */
  readonly hash: string;
  /** What is there when it is ready. */
  readonly ready: string;
  /** Whether docs/images has pictures of it. */
  readonly isShown?: true;
  /** What brings it about, before the address is opened. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** What is done once the heading is there. */
  readonly act?: (page: Page) => Promise<void>;
}

/** The tenant of the places, with the example of that name. */
export const exampleTenant = "documents-and-folders";

/** A tenant without a schema. */
export const blankTenant = "blank";

const exampleTest = readFileSync(
  join(import.meta.dirname, `../../examples/models/${exampleTenant}.yaml`),
  "utf8",
);

const at = (view: string): string => `#/${exampleTenant}/${view}`;
const check = (permission: string): string =>
  at(`ask?mode=check&subject=user:ivan&permission=${permission}&entity=document:budget`);

/** Every view with an answer. */
export const readyPlaces: readonly ConsolePlace[] = [
  { name: "tenants", isShown: true, hash: "#/", ready: "text=Multi tenant roles" },
  {
    name: "model",
    isShown: true,
    hash: at("model?at=document%23view"),
    ready: "svg .box-row.focus",
  },
  { name: "model-problems", hash: at("model?tab=problems"), ready: "text=No problems" },
  { name: "model-versions", hash: at("model?tab=versions"), ready: "text=Edit this text" },
  { name: "data", isShown: true, hash: at("data"), ready: "text=user:bob" },
  { name: "data-attributes", hash: at("data?kind=attributes"), ready: "text=$public" },
  {
    name: "data-filter",
    hash: at("data?subjectType=user&subjectIds=ivan"),
    ready: "text=tuples: 1",
  },
  {
    name: "data-about",
    isShown: true,
    hash: at("data?kind=about&about=folder:company"),
    ready: "text=user:olga",
  },
  { name: "ask", hash: at("ask"), ready: "text=Check" },
  { name: "ask-allowed", isShown: true, hash: check("view"), ready: "text=Why they may" },
  { name: "ask-graph", isShown: true, hash: `${check("view")}&tab=graph`, ready: "svg .edge.good" },
  { name: "ask-plan", hash: `${check("view")}&tab=plan`, ready: "text=select" },
  { name: "ask-denied", isShown: true, hash: check("delete"), ready: "text=What was tried" },
  {
    name: "ask-who",
    hash: at("ask?mode=subjects&permission=view&entity=document:budget&of=user"),
    ready: "text=vera",
  },
  {
    name: "ask-reach",
    hash: at("ask?mode=entities&subject=user:vera&permission=view&of=document"),
    ready: "[role=listitem] >> text=budget",
  },
  {
    name: "ask-all",
    hash: at("ask?mode=all&subject=user:ada&entity=document:budget"),
    ready: "text=/\\d of \\d/",
  },
  {
    name: "test",
    isShown: true,
    hash: at("test"),
    ready: ".cm-covered",
    act: async (page) => await writeText(page, "Test file", exampleTest),
  },
  { name: "watch", isShown: true, hash: at("watch"), ready: "text=Live" },
];

/** Answers to a path never come. */
function stall(path: string): (page: Page) => Promise<void> {
  return async (page) => {
    await page.route(`**/v1/**/${path}`, () => undefined);
  };
}

/** The server answers to a path that it cannot. */
function fail(path: string): (page: Page) => Promise<void> {
  const body = JSON.stringify({
    code: 14,
    message: "ERROR_CODE_UNAVAILABLE: the database cannot be reached",
    details: [],
  });
  return async (page) => {
    await page.route(`**/v1/**/${path}`, async (route) => {
      await route.fulfill({ status: 503, contentType: "application/json", body });
    });
  };
}

/** Types over the text of an editor. */
export async function writeText(page: Page, label: string, text: string): Promise<void> {
  await page.getByRole("textbox", { name: label, exact: true }).click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(text);
}

const faultyModel = "entity user {}\n\nentity document {\n  relation owner @usr\n}\n";

const failingTest = `schema: model.perm

relationships:
  - document:plan#viewer@user:ada

scenarios:
  - name: sharing
    checks:
      - entity: document:plan
        subject: user:ada
        assertions: { view: true, edit: true }
`;

/** Puts the cursor on a name of the model. */
async function onName(page: Page, name: string): Promise<void> {
  const editor = page.getByRole("textbox", { name: "Schema", exact: true });
  await editor.click();
  await page.keyboard.press("ControlOrMeta+Home");
  await editor.getByText(name, { exact: true }).first().click();
}

/** Empty, loading and failed states, and what is done in a view. */
export const states: readonly ConsolePlace[] = [
  {
    name: "tenants-empty",
    isShown: true,
    hash: "#/",
    ready: "text=No tenant yet",
    prepare: async (page) => {
      await page.route("**/v1/tenants/list-placed", async (route) => {
        await route.fulfill({ json: { tenants: [], continuous_token: "" } });
      });
    },
  },
  {
    name: "tenants-clusters",
    hash: "#/",
    ready: "text=cluster east",
    prepare: async (page) => {
      await page.route("**/v1/tenants/list-placed", async (route) => {
        const created = { created_at: "2026-01-02T03:04:05.000Z" };
        const tenants = [
          { id: "acme", name: "Acme", cluster: "main", ...created },
          { id: "globex", name: "Globex", cluster: "east", ...created },
        ];
        await route.fulfill({ json: { tenants, continuous_token: "" } });
      });
    },
  },
  { name: "tenants-loading", hash: "#/", ready: ".loading", prepare: stall("list-placed") },
  { name: "tenants-error", hash: "#/", ready: "[role=alert]", prepare: fail("list-placed") },
  { name: "model-empty", hash: `#/${blankTenant}/model`, ready: "text=No schema yet" },
  { name: "model-loading", hash: at("model"), ready: ".loading", prepare: stall("schemas/list") },
  {
    name: "model-error",
    isShown: true,
    hash: at("model"),
    ready: "[role=alert]",
    prepare: fail("schemas/list"),
  },
  {
    name: "model-faults",
    isShown: true,
    hash: at("model?tab=problems"),
    ready: ".cm-lintRange-error",
    act: async (page) => await writeText(page, "Schema", faultyModel),
  },
  {
    name: "model-changes",
    hash: at("model?tab=changes"),
    ready: ".cm-changedLine",
    act: async (page) => {
      await onName(page, "entity");
      await page.keyboard.press("Home");
      await page.keyboard.insertText("// One word more.\n");
    },
  },
  {
    name: "model-rename",
    isShown: true,
    hash: at("model?at=document%23owner"),
    ready: ".cm-rename",
    act: async (page) => {
      await onName(page, "folder");
      await page.keyboard.press("F2");
    },
  },
  {
    name: "model-references",
    hash: at("model?at=document%23owner"),
    ready: ".cm-names-list button",
    act: async (page) => {
      await onName(page, "folder");
      await page.keyboard.press("Shift+F12");
    },
  },
  {
    name: "data-empty",
    isShown: true,
    hash: at("data?type=document&ids=none"),
    ready: "text=Nothing is stored",
  },
  {
    name: "data-loading",
    hash: at("data"),
    ready: ".loading",
    prepare: stall("data/relationships/read"),
  },
  {
    name: "data-error",
    hash: at("data"),
    ready: "[role=alert]",
    prepare: fail("data/relationships/read"),
  },
  {
    name: "data-add",
    hash: at("data"),
    ready: "text=Line 2:",
    act: async (page) => {
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByLabel("Facts, one a line").fill("document:plan#viewer@user:ada\nnonsense");
      await page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
    },
  },
  { name: "data-about-empty", hash: at("data?kind=about"), ready: "text=Name an entity" },
  { name: "ask-empty", hash: `#/${blankTenant}/ask`, ready: "text=There is nothing to ask yet" },
  {
    name: "ask-loading",
    isShown: true,
    hash: check("view"),
    ready: "text=Asking…",
    prepare: stall("permissions/explain"),
  },
  {
    name: "ask-error",
    hash: at("ask?mode=check&subject=ivan&permission=view&entity=document:budget"),
    ready: "[role=alert]",
  },
  {
    name: "ask-none",
    hash: at("ask?mode=entities&subject=user:nobody&permission=edit&of=document"),
    ready: "text=None",
  },
  { name: "test-empty", hash: at("test"), ready: "text=Nothing is asserted yet" },
  { name: "test-loading", hash: at("test"), ready: ".loading", prepare: stall("schemas/list") },
  {
    name: "test-failed",
    hash: at("test"),
    ready: "text=1 failed",
    act: async (page) => await writeText(page, "Test file", failingTest),
  },
  { name: "watch-error", hash: at("watch"), ready: "[role=alert]", prepare: fail("watch") },
  {
    name: "token",
    hash: at("model"),
    ready: "dialog",
    act: async (page) => await page.getByRole("button", { name: /oken/ }).click(),
  },
];
