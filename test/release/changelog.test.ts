import assert from "node:assert/strict";
import { test } from "node:test";

import { unreleasedNotes, withRelease } from "../../scripts/changelog.ts";

const changelog = `# Changelog

## Unreleased

- Costs $& less.

### Fixed

- Nothing.

## 0.1.0 (2026-01-01)

- The first.
`;

test("the notes of a release are what was unreleased, with its headings", () => {
  assert.equal(unreleasedNotes(changelog), "- Costs $& less.\n\n### Fixed\n\n- Nothing.");
  assert.equal(unreleasedNotes("# Changelog\n\n## Unreleased\n\n## 0.1.0\n\n- The first.\n"), "");
});

test("a release gets a section of its own, and nothing is unreleased after it", () => {
  const released = withRelease(changelog, "0.2.0", "2026-02-03");
  assert.equal(unreleasedNotes(released), "");
  assert.match(released, /^## Unreleased\n\n## 0\.2\.0 \(2026-02-03\)\n\n- Costs \$& less\.$/m);
  assert.ok(released.endsWith(changelog.slice(changelog.indexOf("- Costs"))));
});

test("a changelog that says nothing of what is unreleased is refused", () => {
  assert.throws(() => unreleasedNotes("# Changelog\n"), /CHANGELOG\.md: no section `Unreleased`/);
});
