import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { widths } from "./open-console.ts";
import { readyPlaces, states } from "./places.ts";

const folder = join(import.meta.dirname, "../../docs/images");

/** They come with each clone. */
const bytesMax = 1_500_000;

test("the docs have a picture of each place that they show, at each width and in each theme", () => {
  const shown = [...readyPlaces, ...states].filter(({ isShown }) => isShown === true);
  const expected = shown.flatMap(({ name }) =>
    widths.flatMap((width) =>
      ["light", "dark"].map((theme) => `console-${name}-${width}-${theme}.webp`),
    ),
  );
  const files = readdirSync(folder);
  // UPDATE_PAGES=1 npm run test:only -- test/console/views.long.test.ts
  assert.deepEqual(files.toSorted(), expected.toSorted());
  const bytes = files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
  assert.ok(bytes < bytesMax, `${bytes} bytes`);
});
