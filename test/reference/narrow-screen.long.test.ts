import assert from "node:assert/strict";
import { test } from "node:test";

import { until } from "../store/open-write.ts";
import { servePemba } from "../support/pemba.ts";
import { findBrowser, openPage } from "./browser.ts";

const browser = findBrowser();
const skip = browser === undefined && "there is no browser";

/** Of a telephone, in CSS pixels. */
const width = 390;

/** The longest of each kind: with a body, with an answer in lines, with parameters of the query. */
const operations = ["changeData", "lookupEntityStream", "watch"];
const anyOf = (inner: string): string =>
  operations.map((id) => `[id$="-${id}"] ${inner}`).join(", ");

test(
  "on a telephone an operation of the page fits, and no timeout is filled in",
  { skip },
  async (t) => {
    const { url } = await servePemba(t);
    const page = await openPage(browser ?? "", `${url}/docs`, width);
    t.after(async () => await page.close());
    /** Waits for what each operation shows, and clicks it. */
    const click = async (selector: string): Promise<void> => {
      const found = `[...document.querySelectorAll(${JSON.stringify(anyOf(selector))})]`;
      await until(async () => {
        const count = await page.evaluate(`${found}.length`);
        return count === operations.length ? true : undefined;
      });
      await page.evaluate(`${found}.forEach((one) => one.click())`);
    };
    await click(".opblock-summary-control");
    await click(".try-out__btn");
    await click(".execute");
    const timeouts = `[...document.querySelectorAll("[placeholder^=Grpc-Timeout]")]`;
    assert.deepEqual(
      await page.evaluate(`${timeouts}.map((one) => one.value)`),
      operations.map(() => ""),
    );
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), width);
  },
);
