import { cpus, totalmem } from "node:os";

/** What figures were taken on, and how. */
export interface Provenance {
  readonly machine: string;
  /** The words behind `npm run bench --`. */
  readonly command: string;
  /** The day, by UTC. */
  readonly day: string;
}

/** `words` are those of the command line; where the figures go is left out. */
export function provenance(words: readonly string[]): Provenance {
  const processors = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  const said = words.filter(
    (word, nth) => word !== "--keep" && word !== "--json" && words[nth - 1] !== "--json",
  );
  return {
    machine: `${processors.length} x ${processors[0]?.model ?? "unknown"}, ${gigabytes} GiB, ${process.platform} ${process.arch}, Node ${process.versions.node}`,
    command: said.join(" "),
    day: new Date().toISOString().slice(0, 10),
  };
}
