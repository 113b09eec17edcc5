import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import type { AxeResults } from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";

import { scopes } from "../../src/base/scope.ts";
import { buildConsole } from "../support/console-build.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { startServing } from "../support/pemba.ts";
import { findTool } from "../support/tools.ts";

/** The widths that the console is made for, in pixels. */
export const widths = [390, 1440] as const;

/** The key that may do everything. */
export const fullKey = "full-key-of-the-test";
/** A key that may only ask. */
export const askingKey = "asking-key-of-the-test";
/** A key that may only read. */
export const readingKey = "reading-key-of-the-test";
/** A key that may do everything, but in no tenant of the tests. */
export const elsewhereKey = "elsewhere-key-of-the-test";

const root = join(import.meta.dirname, "../..");

/** Where pictures of the views are written for the eye. */
const pictures = join(root, "node_modules/.cache/console");

/** The same for the docs, if `UPDATE_PAGES=1` asks for them. */
const shownPictures = join(root, "docs/images");
const isUpdate = process.env["UPDATE_PAGES"] === "1";

/** Letters stay sharp at this quality, from 0 to 100. */
const pictureQuality = 55;

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const engineNames = ["memory", "postgres"] as const;

/** A served console and a browser for it. */
export interface OpenConsole {
  readonly url: string;
  /** Calls an operation with the full key. */
  call(path: string, body: object): Promise<unknown>;
  /** Opens a page with a token in its session. */
  page(options: PageOptions): Promise<WatchedPage>;
  close(): Promise<void>;
}

export interface PageOptions {
  readonly width?: (typeof widths)[number];
  readonly theme?: "light" | "dark";
  /** Undefined: none. */
  readonly token?: string | undefined;
}

/** A page, with what went wrong in it. */
export interface WatchedPage {
  readonly page: Page;
  /** Goes to a part of the console, such as `#/t1/ask`. */
  go(hash: string): Promise<void>;
  /** Leaves the console, and takes back what was routed and what the tab keeps. */
  leave(): Promise<void>;
  /** Fails if the console of the browser has errors, or anything was asked of another server. */
  assertClean(): void;
  /** Fails if axe finds something. */
  assertAccessible(): Promise<void>;
  /** Fails if the page is wider than the window. */
  assertFits(): Promise<void>;
  /** Writes a picture of the window. If the docs show it, there as well. */
  picture(name: string, isShown: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Serves the console on an engine, with tokens. */
export async function openConsole(engine: (typeof engineNames)[number]): Promise<OpenConsole> {
  await buildConsole();
  const database = engine === "postgres" ? await createMigratedDatabase() : undefined;
  const scoped = [
    { name: "asking", key: askingKey, scopes: ["check"] },
    { name: "reading", key: readingKey, scopes: ["read"] },
    { name: "elsewhere", key: elsewhereKey, scopes, tenants: ["elsewhere"] },
  ];
  const serving = startServing(["--database-engine", engine, "--service-watch-enabled=true"], {
    env: {
      SERVICE_AUTHN_ENABLED: "true",
      SERVICE_AUTHN_METHOD: "preshared",
      SERVICE_AUTHN_PRESHARED_KEYS: fullKey,
      SERVICE_AUTHN_PRESHARED_SCOPED: JSON.stringify(scoped),
      ...(database !== undefined && { SERVICE_DATABASE_URI: database.url }),
    },
  });
  const { url } = await serving.addresses;
  const executablePath = findTool("chromium") ?? "";
  // The sandbox of the browser does not run as root.
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  return {
    url,
    call: async (path, body) => await call(url, path, body),
    page: async (options) => await openPage(browser, url, options),
    close: async () => {
      await browser.close();
      serving.process.kill("SIGTERM");
      await serving.finished;
      await database?.drop();
    },
  };
}

async function call(url: string, path: string, body: object): Promise<unknown> {
  const response = await fetch(`${url}/v1/tenants/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${fullKey}` },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200, await response.clone().text());
  return await response.json();
}

async function openPage(
  browser: Browser,
  url: string,
  { width = 1440, theme = "light", token }: PageOptions,
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width, height: width < 800 ? 844 : 900 },
    colorScheme: theme,
  });
  const page = await context.newPage();
  // What is not there within this time never comes: the tests wait for nothing else.
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(`${url}/`)) faults.push(`asked ${request.url()}`);
  });
  if (token !== undefined) {
    await page.addInitScript((text) => sessionStorage.setItem("pemba.token", text), token);
  }
  return {
    page,
    go: async (hash) => {
      await page.goto(`${url}/console${hash}`);
      await page.locator("h1").waitFor();
    },
    leave: async () => {
      await page.evaluate(() => sessionStorage.clear());
      await page.goto("about:blank");
      await page.unrouteAll({ behavior: "ignoreErrors" });
    },
    assertClean: () => assert.deepEqual(faults, []),
    assertAccessible: async () => await assertAccessible(page),
    assertFits: async () => {
      const wide = await page.evaluate(() =>
        [...document.querySelectorAll("html, main, .view, .panel, .panel-head, .filter, dialog")]
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
          .map(({ className, tagName, scrollWidth, clientWidth }) =>
            [tagName, className, scrollWidth, clientWidth].join(" "),
          ),
      );
      assert.deepEqual(wide, [], "something is wider than its place");
    },
    picture: async (name, isShown) => {
      const file = `console-${name}-${width}-${theme}`;
      mkdirSync(pictures, { recursive: true });
      await page.screenshot({ path: join(pictures, `${file}.png`) });
      if (!isShown || !isUpdate) return;
      const session = await context.newCDPSession(page);
      const format = { format: "webp", quality: pictureQuality } as const;
      const { data } = await session.send("Page.captureScreenshot", format);
      await session.detach();
      mkdirSync(shownPictures, { recursive: true });
      writeFileSync(join(shownPictures, `${file}.webp`), Buffer.from(data, "base64"));
    },
    close: async () => await context.close(),
  };
}

async function assertAccessible(page: Page): Promise<void> {
  // By the protocol, since the policy of the page lets no script in.
  await page.evaluate(axe);
  const results = await page.evaluate<AxeResults>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  const found = results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
  assert.deepEqual(found, []);
}
