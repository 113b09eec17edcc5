import { readFileSync, writeFileSync } from "node:fs";

import type { Provenance } from "./machine.ts";
import { pageSections } from "./page-sections.ts";

const recorded = new URL("recorded/", import.meta.url);
const page = new URL("../docs/performance.md", import.meta.url);

const introduction = `# Performance

Figures of one machine, each table of one run, written by \`npm run bench -- page\` from
\`bench/recorded/\`; what each command does stands in [bench/README.md](../bench/README.md). Ratios
travel to other machines, rates and milliseconds do not: here, what asks, what answers and Postgres
share the same processors.

All of it is taken anew, the long run of the end excepted, by

    npm run bench -- record
`;

/** The page that follows from what is recorded. Fails when a part is not. */
export function performancePage(): string {
  const parts = pageSections.map(({ name, title, about, tables }) => {
    const path = new URL(`${name}.json`, recorded);
    const result: Provenance & { readonly server?: string } = JSON.parse(
      readFileSync(path, "utf8"),
    );
    const { machine, command, day, server } = result;
    const place = [machine, ...(server === undefined ? [] : [server])].join(", ");
    const taken = `\`npm run bench -- ${command}\`, ${day}, ${place}.`;
    return `## ${title}\n\n${about}\n\n${tables(JSON.stringify(result)).join("\n\n")}\n\n${taken}\n`;
  });
  return [introduction, ...parts].join("\n");
}

/** Writes the page anew. */
export function updatePage(): void {
  writeFileSync(page, performancePage());
}
