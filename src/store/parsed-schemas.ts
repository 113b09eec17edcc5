import { heapBytes } from "../base/heap-bytes.ts";
import type { Steps } from "../base/steps.ts";
import { parseSchemaSteps } from "../language/parse.ts";
import { type SchemaScope, scopeOf } from "../language/scope.ts";
import type { Source } from "../language/source.ts";
import { type HeldBytes, KeptMap } from "./kept.ts";
import type { CompiledText } from "./planner.ts";

/** A schema as it was written: where each of its names and expressions stands. */
export interface ParsedSchema {
  readonly source: Source;
  readonly scope: SchemaScope;
  readonly bytes: number;
}

/** The texts of the schemas that explanations are asked of, parsed again for the places in them. */
export class ParsedSchemas {
  readonly #parsed: KeptMap<ParsedSchema>;

  constructor(limit: HeldBytes) {
    this.#parsed = new KeptMap(limit, ({ bytes }) => bytes);
  }

  /** Fails with CANCELLED when the signal aborts. */
  find(
    { id, text }: CompiledText,
    signal: AbortSignal | undefined,
  ): ParsedSchema | Promise<ParsedSchema> {
    return this.#parsed.find(`parsed ${id}`, () => parse(text), signal);
  }
}

function* parse(text: string): Steps<ParsedSchema> {
  const tree = yield* parseSchemaSteps(text);
  const scope = scopeOf(tree);
  const bytes = yield* heapBytes({ tree, scope }, { isShared: () => false, countsStrings: true });
  return { source: tree.source, scope, bytes };
}
