import { create, toJsonString } from "@bufbuild/protobuf";

import { PembaError } from "../base/error.ts";
import { printable } from "../base/printable.ts";
import { parseFlags } from "../config/flags.ts";
import { SchemaDefinitionSchema } from "../gen/base/v1/definition_pb.ts";
import { compileSchemaText } from "../language/compile.ts";
import type { Schema } from "../language/schema.ts";
import { encodeSchema } from "../messages/definition.ts";
import { type PlacedMessage, placeText } from "../model-test/file/text-place.ts";
import type { LoadedSchema } from "../model-test/run/write-model.ts";
import type { Command } from "./command.ts";
import { loadModel } from "./model-test/load-model.ts";
import { oneFile } from "./model-test/one-file.ts";
import { complain, say } from "./output.ts";

const flags = new Map([["pretty", { bare: "true" }]]);

export const ast: Command = {
  name: "ast",
  summary: "print the compiled schema of a model test as JSON",
  flags,
  help: () => `usage: pemba ast FILE [--pretty]

Compiles the schema of a YAML file, and prints its definition as the JSON of the message
base.v1.SchemaDefinition.

  --pretty  over several lines, indented`,

  async run(args) {
    const { values, positionals, problems } = parseFlags(args, flags);
    if (!["true", "false"].includes(values.get("pretty") ?? "true")) {
      problems.push("--pretty: takes no value");
    }
    const file = oneFile("ast", positionals, problems);
    if (file === undefined) return complain(...problems);
    const { model, problems: faults } = await loadModel(file, rules, "schema");
    if (model === undefined) return complain(...faults.map(messageText));
    const message = create(SchemaDefinitionSchema, encodeSchema(compiled(model.schema)));
    const prettySpaces = values.get("pretty") === "true" ? 2 : 0;
    say(toJsonString(SchemaDefinitionSchema, message, { prettySpaces }));
    return 0;
  },
};

/** Nothing is asked, so no question is too shallow. */
const rules = { isStrict: false, minDepth: 0 };

function messageText({ place, message }: PlacedMessage): string {
  return printable(`${placeText(place)}: ${message}`);
}

/** Fails with all mistakes of the schema, each at its place. */
function compiled({ text, placeIn }: LoadedSchema): Schema {
  try {
    return compileSchemaText(text);
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    const faults = error.details.map(({ line = 1, column = 1, message }) =>
      messageText({ place: placeIn(line, column), message }),
    );
    throw new PembaError(error.code, faults.join(", "));
  }
}
