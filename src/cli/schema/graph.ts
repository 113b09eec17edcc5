import { dotOf } from "../../authoring/graph/dot.ts";
import { graphOf, type SchemaGraph } from "../../authoring/graph/graph.ts";
import { mermaidOf } from "../../authoring/graph/mermaid.ts";
import { parseFlags } from "../../config/flags.ts";
import type { Command } from "../command.ts";
import { complain, put, surplus } from "../output.ts";
import { compileSchemaFile } from "./compile-file.ts";

const forms: ReadonlyMap<string, (graph: SchemaGraph) => string> = new Map([
  ["mermaid", mermaidOf],
  ["dot", dotOf],
]);

const flags = new Map([["format", {}]]);

export const graph: Command = {
  name: "graph",
  summary: "draw a schema",
  flags,
  help: () => `usage: pemba schema graph FILE [flags]

Prints the entities of a schema with their relations, attributes and permissions as a graph; \`-\` is
standard input. A dashed arrow leads from a relation to what may stand in it, and a solid arrow from a
permission to what it asks, with the relation of a walk and with \`not\` at it.

  --format  mermaid, for Markdown pages, or dot, for Graphviz (default mermaid)

  pemba schema graph schema.perm --format dot | dot -Tsvg > schema.svg`,

  async run(args) {
    const { values, positionals, problems } = parseFlags(args, flags);
    const [file, ...others] = positionals;
    if (file === undefined) problems.push("schema graph: expected a file, or `-`");
    problems.push(...surplus("schema graph", others));
    const form = values.get("format") ?? "mermaid";
    const print = forms.get(form);
    if (print === undefined) problems.push(`--format: expected mermaid or dot, not \`${form}\``);
    if (problems.length > 0 || print === undefined) return complain(...problems);
    put(print(graphOf(compileSchemaFile(file ?? "", "schema graph"))));
    return 0;
  },
};
