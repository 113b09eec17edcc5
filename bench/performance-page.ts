import { existsSync, readFileSync, writeFileSync } from "node:fs";

import type { Provenance } from "./machine.ts";
import { pageSections } from "./page-sections.ts";

const recorded = new URL("recorded/", import.meta.url);
const page = new URL("../docs/performance.md", import.meta.url);

const introduction = `# Performance

Figures of one run on one machine, written by \`npm run bench -- page\` from \`bench/recorded/\`; what
each command does stands in [bench/README.md](../bench/README.md). Ratios travel to other machines,
rates and milliseconds do not: here, what asks, what answers and Postgres share the same processors.

All of it is taken anew, the long run of the end excepted, by

    npm run bench -- record
`;

/** The page that follows from what is recorded; a part that is not recorded is not on it. */
export function performancePage(): string {
  const parts = pageSections.flatMap(({ name, title, about, tables }) => {
    const path = new URL(`${name}.json`, recorded);
    if (!existsSync(path)) return [];
    const result: Provenance & { readonly server?: string } = JSON.parse(
      readFileSync(path, "utf8"),
    );
    const { machine, command, day, server } = result;
    const place = [machine, ...(server === undefined ? [] : [server])].join(", ");
    const taken = `\`npm run bench -- ${command}\`, ${day}, ${place}.`;
    return [
      `## ${title}\n\n${about}\n\n${tables(JSON.stringify(result)).join("\n\n")}\n\n${taken}\n`,
    ];
  });
  return [introduction, ...parts].join("\n");
}

/** Writes the page anew. */
export function updatePage(): void {
  writeFileSync(page, performancePage());
}
