import { defineConfig, type OxlintOverride } from "oxlint";

import { mayImport, mustNotImport } from "./scripts/rooms.ts";

const rooms = Object.keys(mayImport).map((room): OxlintOverride => {
  const higher = mustNotImport(room).join("|");
  const message = `src/${room} imports lower rooms only, see scripts/rooms.ts`;
  const patterns = [{ regex: String.raw`^(\.\./)+((${higher})/|main\.ts$)`, message }];
  return {
    files: [`src/${room}/**`],
    rules: { "eslint/no-restricted-imports": ["error", { patterns }] },
  };
});

export default defineConfig({
  plugins: ["eslint", "typescript", "unicorn", "import", "oxc", "promise", "node"],
  categories: { correctness: "error" },
  ignorePatterns: ["node_modules", "dist", "src/gen"],
  options: { typeAware: true, reportUnusedDisableDirectives: "error" },
  rules: {
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    // A written `default` is a decision; a missing case is an oversight.
    "typescript/switch-exhaustiveness-check": [
      "error",
      { considerDefaultExhaustiveForUnions: true },
    ],
    "typescript/consistent-type-imports": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "eslint/no-console": "error",
    "eslint/max-lines-per-function": [
      "error",
      { max: 70, skipComments: true, skipBlankLines: true },
    ],
  },
  overrides: [
    ...rooms,
    {
      // An interface that two files pass to each other is a cycle for a reader as well.
      files: ["src/**"],
      rules: { "import/no-cycle": ["error", { ignoreTypes: false }] },
    },
    {
      files: ["test/**"],
      rules: {
        "typescript/no-floating-promises": [
          "error",
          {
            allowForKnownSafeCalls: [
              { from: "package", package: "node:test", name: ["it", "test", "describe", "suite"] },
            ],
          },
        ],
        "eslint/max-lines-per-function": "off",
      },
    },
    {
      // Node's reporters and the linter's own configuration are default exports.
      files: ["oxlint.config.ts", "test/support/reporter.ts"],
      rules: { "import/no-default-export": "off" },
    },
  ],
});
