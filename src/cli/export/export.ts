import { oneOf } from "../../config/kind.ts";
import { withServer, readAskedWords } from "../client/asked-words.ts";
import type { Server } from "../client/send.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, pour, warn } from "../output.ts";
import { bundleLines } from "./bundle-lines.ts";
import { readExportState } from "./export-state.ts";
import { attributeLines, type ExportFormat, tupleLines } from "./fact-lines.ts";

const formats = oneOf("ndjson", "text");

const flags = new Map([
  ["format", {}],
  ["snap-token", {}],
]);

export const exportCommand: Command = {
  name: "export",
  summary: "print the schema, the bundles and the data of a tenant",
  flags: withServer(flags),
  help: () => `usage: pemba export [flags]

Prints what a tenant of a server has at one state: the snap token of the state, the head of the schema, the
bundles, the tuples and the attributes, one in each line. \`pemba import\` reads it, and \`pemba watch\` goes on
from its state. The schema means what was written, but has no comments.

  pemba export > backup.ndjson
  pemba export | pemba import - --url https://other.example --tenant t2

  --format      ndjson, or text, which has tuples and attributes in text notation (default ndjson)
  --snap-token  the tuples and attributes of this state (default: the present one, for which the token of
                the request needs the scope \`write\`)

${serverHelp}

The schema and the bundles are those of the same state, or with --snap-token the present ones. The exit
status is 1 if bundles change meanwhile, or if the state becomes older than the history that the server
keeps.`,

  async run(args) {
    const asked = readAskedWords("export", args, [], flags);
    if (asked.kind === "problems") return complain(...asked.problems);
    const format = formats.read(asked.values.get("format") ?? "ndjson");
    if (format === undefined) return complain(`--format: expected ${formats.expected}`);
    const repetition = {
      onWait: (reason: string, waitMs: number) =>
        warn(`a request is sent again in ${waitMs / 1_000} s: ${reason}`),
      signal: new AbortController().signal,
    };
    const server = { ...asked.server, repetition };
    for await (const lines of linesOf(server, format, asked.values.get("snap-token"))) {
      await pour(lines.map((line) => `${line}\n`).join(""));
    }
    return 0;
  },
};

/** In parts, each of which is a page at most. */
async function* linesOf(
  server: Server,
  format: ExportFormat,
  givenToken: string | undefined,
): AsyncGenerator<readonly string[]> {
  const { schema, snapToken, bundlesDigest } = await readExportState(server, givenToken);
  if (schema === undefined)
    warn("the tenant has no schema, so there is no state and no data to export");
  const tuples = snapToken === "" ? undefined : tupleLines(server, snapToken, format);
  // A state that cannot be read fails before anything is printed.
  const first = await tuples?.next();
  if (snapToken !== "") yield [JSON.stringify({ state: { snap_token: snapToken } })];
  if (schema !== undefined) yield [JSON.stringify({ schema })];
  yield* bundleLines(server, bundlesDigest);
  if (tuples === undefined) return;
  if (first?.done === false) yield first.value;
  yield* tuples;
  yield* attributeLines(server, snapToken, format);
}
