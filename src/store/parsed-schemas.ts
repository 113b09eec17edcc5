import { heapBytes } from "../base/heap-bytes.ts";
import type { Steps } from "../base/steps.ts";
import { parseSchemaSteps } from "../language/parse.ts";
import { scopeOf } from "../language/scope.ts";
import { type HeldBytes, KeptMap } from "./kept.ts";
import type { CompiledText } from "./planner.ts";
import { placesBytes, SchemaPlaces } from "./schema-places.ts";

/** The texts of the schemas that explanations are asked of, parsed again for the places in them. */
export class ParsedSchemas {
  readonly #parsed: KeptMap<SchemaPlaces>;

  constructor(limit: HeldBytes) {
    this.#parsed = new KeptMap(limit, ({ bytes }) => bytes);
  }

  /** Fails with CANCELLED when the signal aborts. */
  find(
    { id, text }: CompiledText,
    signal: AbortSignal | undefined,
  ): SchemaPlaces | Promise<SchemaPlaces> {
    return this.#parsed.find(`parsed ${id}`, () => parse(text), signal);
  }
}

function* parse(text: string): Steps<SchemaPlaces> {
  const tree = yield* parseSchemaSteps(text);
  const scope = scopeOf(tree);
  const parsed = yield* heapBytes({ tree, scope }, { isShared: () => false, countsStrings: true });
  return new SchemaPlaces(tree.source, scope, parsed + (yield* placesBytes(scope)));
}
