import { presentCaller } from "../base/caller.ts";
import { fieldError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import { Pace, type Steps } from "../base/steps.ts";
import { runInSlices } from "../base/time-slice.ts";
import type { Bundle, BundleOperation } from "../store/bundle.ts";
import { checkTemplate } from "./bundle-template.ts";
import { continuousToken, parseTextCursor, type TokenScope } from "./continuous-token.ts";
import {
  type Absent,
  bundleNamePattern,
  defaultPageSize,
  invalidField,
  missingField,
  parseBundleName,
  parsePageSize,
  parseTenantId,
  parseText,
} from "./field.ts";
import type { Service } from "./service.ts";

export interface WriteBundlesRequest {
  readonly tenantId: string;
  readonly bundles?: readonly RawBundle[] | Absent;
}

export interface RawBundle {
  readonly name?: string | Absent;
  readonly arguments?: readonly string[] | Absent;
  readonly operations?: readonly RawOperation[] | Absent;
}

interface RawOperation {
  readonly relationshipsWrite?: readonly string[] | Absent;
  readonly relationshipsDelete?: readonly string[] | Absent;
  readonly attributesWrite?: readonly string[] | Absent;
  readonly attributesDelete?: readonly string[] | Absent;
}

export const argumentPattern = /^[a-zA-Z0-9_]{1,64}$/;

/**
 * Writes all of the bundles or none. Each replaces a bundle of the same name. Returns their names
 * in the order of the request.
 */
export async function writeBundles(
  service: Service,
  request: WriteBundlesRequest,
): Promise<readonly string[]> {
  const tenant = parseTenantId(request.tenantId);
  const raw = request.bundles ?? [];
  if (raw.length === 0) throw missingField("bundles", "at least one bundle");
  const bundles = await runInSlices(parseBundles(raw), presentCaller()?.signal);
  await service.store.bundles.write(tenant, bundles);
  return bundles.map(({ name }) => name);
}

function* parseBundles(raw: readonly RawBundle[]): Steps<readonly Bundle[]> {
  const pace = new Pace();
  const bundles: Bundle[] = [];
  for (const [index, bundle] of raw.entries()) {
    bundles.push(yield* parseBundle(bundle, { field: `bundles[${index}]`, pace }));
  }
  const names = bundles.map(({ name }) => name);
  yield* refuseRepeats(names, (index) => `bundles[${index}].name`, pace);
  return bundles;
}

/** Where a part stands in the request, and the pace of all of it. */
interface BundlePlace {
  readonly field: string;
  readonly pace: Pace;
}

function* parseBundle(raw: RawBundle, { field, pace }: BundlePlace): Steps<Bundle> {
  const name = parseBundleName(raw.name, `${field}.name`);
  const names: string[] = [];
  for (const [index, argument] of (raw.arguments ?? []).entries()) {
    names.push(parseArgument(argument, `${field}.arguments[${index}]`));
    if (pace.step()) yield;
  }
  const declared = new Set(names);
  const operations: BundleOperation[] = [];
  for (const [index, operation] of (raw.operations ?? []).entries()) {
    const place = `${field}.operations[${index}]`;
    operations.push(yield* parseOperation(operation, declared, { field: place, pace }));
    if (pace.step()) yield;
  }
  return { name, arguments: names, operations };
}

function parseArgument(name: string, field: string): string {
  if (argumentPattern.test(name)) return name;
  throw invalidField(
    field,
    `${quote(name)} is not a name of 1 to 64 letters, digits and underscores`,
  );
}

function* parseOperation(
  raw: RawOperation,
  declared: ReadonlySet<string>,
  { field, pace }: BundlePlace,
): Steps<BundleOperation> {
  const list = (templates: readonly string[] | Absent, name: string): Steps<readonly string[]> =>
    parseTemplates(templates ?? [], declared, { field: `${field}.${name}`, pace });
  return {
    relationshipsWrite: yield* list(raw.relationshipsWrite, "relationships_write"),
    relationshipsDelete: yield* list(raw.relationshipsDelete, "relationships_delete"),
    attributesWrite: yield* list(raw.attributesWrite, "attributes_write"),
    attributesDelete: yield* list(raw.attributesDelete, "attributes_delete"),
  };
}

function* parseTemplates(
  templates: readonly string[],
  declared: ReadonlySet<string>,
  { field, pace }: BundlePlace,
): Steps<readonly string[]> {
  for (const [index, template] of templates.entries()) {
    const place = `${field}[${index}]`;
    yield* checkTemplate(parseText(template, place), declared, { field: place, pace });
    if (pace.step()) yield;
  }
  yield* refuseRepeats(templates, (index) => `${field}[${index}]`, pace);
  return templates;
}

/** Refuses duplicates: a repeated operation has no effect, so it is a mistake in the request. */
function* refuseRepeats(
  texts: readonly string[],
  placeOf: (index: number) => string,
  pace: Pace,
): Steps<void> {
  const places = new Map<string, number>();
  for (const [index, text] of texts.entries()) {
    const place = places.get(text);
    if (place !== undefined) {
      const problem = `${quote(text)} stands at ${placeOf(place)} already`;
      throw fieldError("ALREADY_EXIST", placeOf(index), problem);
    }
    places.set(text, index);
    if (pace.step()) yield;
  }
}

export interface NamedBundleRequest {
  readonly tenantId: string;
  readonly name?: string | Absent;
}

/** Returns the bundle. Fails with BUNDLE_NOT_FOUND. */
export async function readBundle(service: Service, request: NamedBundleRequest): Promise<Bundle> {
  const tenant = parseTenantId(request.tenantId);
  return await service.store.bundles.read(tenant, parseBundleName(request.name, "name"));
}

export interface ListBundlesRequest {
  readonly tenantId: string;
  readonly pageSize?: number | Absent;
  readonly continuousToken?: string | Absent;
}

/** Lists the names of the bundles of a tenant, ascending by their bytes in UTF-8. */
export async function listBundles(
  service: Service,
  request: ListBundlesRequest,
): Promise<{ readonly names: readonly string[]; readonly continuousToken: string }> {
  const tenant = parseTenantId(request.tenantId);
  const limit = parsePageSize(request.pageSize, defaultPageSize);
  const scope: TokenScope = {
    mac: service.store.pageMac,
    operation: "bundle/list",
    tenant,
    query: null,
  };
  const after = parseTextCursor(scope, request.continuousToken, isBundleName);
  const page = await service.store.bundles.list(tenant, { after, limit });
  return { names: page.items, continuousToken: continuousToken(scope, page.next) };
}

function isBundleName(text: string): text is string {
  return bundleNamePattern.test(text);
}

/** Returns the name of the deleted bundle. Fails with BUNDLE_NOT_FOUND. */
export async function deleteBundle(service: Service, request: NamedBundleRequest): Promise<string> {
  const tenant = parseTenantId(request.tenantId);
  const name = parseBundleName(request.name, "name");
  await service.store.bundles.delete(tenant, name);
  return name;
}
