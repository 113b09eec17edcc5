import { presentCaller } from "../base/caller.ts";
import { fieldError } from "../base/error.ts";
import { quote, shorten } from "../base/quote.ts";
import { runInSlices } from "../base/time-slice.ts";
import type { SnapToken } from "../base/tuple.ts";
import type { Bundle } from "../store/bundle.ts";
import {
  type Absent,
  invalidField,
  parseBundleName,
  parseTenantId,
  parseText,
  requireObject,
} from "./field.ts";
import { renderBundle } from "./render-bundle.ts";
import type { Service } from "./service.ts";

export interface RunBundleRequest {
  readonly tenantId: string;
  readonly name?: string | Absent;
  readonly arguments?: Readonly<Record<string, string>> | Absent;
}

/**
 * Inserts the arguments into the templates of the bundle and applies the result, in one
 * transaction. The token names the state right after. Fails with BUNDLE_NOT_FOUND.
 */
export async function runBundle(service: Service, request: RunBundleRequest): Promise<SnapToken> {
  const tenant = parseTenantId(request.tenantId);
  const name = parseBundleName(request.name, "name");
  const values = new Map(Object.entries(requireObject(request.arguments, "arguments")));
  for (const [argument, value] of values) parseText(value, `arguments.${shorten(argument)}`);
  return await service.store.bundles.run(tenant, name, async (bundle) => {
    checkArguments(bundle, values);
    const work = renderBundle(bundle, values, service.maxDataPerWrite);
    return await runInSlices(work, presentCaller()?.signal);
  });
}

function checkArguments(bundle: Bundle, values: ReadonlyMap<string, string>): void {
  const declared = new Set(bundle.arguments);
  const expected =
    declared.size === 0
      ? "no arguments"
      : `exactly ${[...declared].map((name) => `\`${name}\``).join(", ")}`;
  for (const name of declared) {
    if (values.has(name)) continue;
    const problem = `lacks \`${name}\` of bundle \`${bundle.name}\`, expected ${expected}`;
    throw fieldError("MISSING_ARGUMENT", "arguments", problem);
  }
  for (const name of values.keys()) {
    if (declared.has(name)) continue;
    throw invalidField(
      "arguments",
      `${quote(name)} is not an argument of bundle \`${bundle.name}\`, expected ${expected}`,
    );
  }
}
