import {
  type AttributeFilterBody,
  readAttributes,
  readTuples,
  type TupleFilterBody,
} from "../../api/data.ts";
import {
  attributeFilterOf,
  filtersAbout,
  tupleFilterOf,
  type WrittenFilter,
} from "./data-filter.ts";
import { attributeFact, type Fact, tupleFact } from "./fact.ts";

/** Facts, and what reads those behind them. */
export interface FactPage {
  readonly facts: readonly Fact[];
  /** Undefined behind the last ones. */
  readonly more: (() => Promise<FactPage>) | undefined;
}

/** Reads the first facts of a list. */
export type FactSource = (signal: AbortSignal) => Promise<FactPage>;

/** The facts of a filter of tuples or attributes. */
export function factsOf(tenant: string, filter: WrittenFilter): FactSource {
  return async (signal) =>
    filter.kind === "tuples"
      ? await tuplePage(tenant, tupleFilterOf(filter), "", signal)
      : await attributePage(tenant, attributeFilterOf(filter), "", signal);
}

/** The attributes of an entity, and behind them the tuples in which it is the entity. */
export function factsAsEntity(tenant: string, about: string): FactSource {
  return async (signal) => {
    const { asEntity } = filtersAbout(about);
    const attributes = await attributePage(tenant, asEntity, "", signal);
    return await followedBy(attributes, async () => await tuplePage(tenant, asEntity, "", signal));
  };
}

/** The tuples in which it is the subject. */
export function factsAsSubject(tenant: string, about: string): FactSource {
  return async (signal) => await tuplePage(tenant, filtersAbout(about).asSubject, "", signal);
}

async function followedBy(page: FactPage, next: () => Promise<FactPage>): Promise<FactPage> {
  const { facts, more } = page;
  if (more !== undefined) return { facts, more: async () => await followedBy(await more(), next) };
  const behind = await next();
  return { facts: [...facts, ...behind.facts], more: behind.more };
}

async function tuplePage(
  tenant: string,
  filter: TupleFilterBody,
  after: string,
  signal?: AbortSignal,
): Promise<FactPage> {
  const page = { filter, after, ...(signal !== undefined && { signal }) };
  const { tuples, continuous_token: next } = await readTuples(tenant, page);
  return {
    facts: tuples.map(tupleFact),
    more: next === "" ? undefined : async () => await tuplePage(tenant, filter, next),
  };
}

async function attributePage(
  tenant: string,
  filter: AttributeFilterBody,
  after: string,
  signal?: AbortSignal,
): Promise<FactPage> {
  const page = { filter, after, ...(signal !== undefined && { signal }) };
  const { attributes, continuous_token: next } = await readAttributes(tenant, page);
  return {
    facts: attributes.map(attributeFact),
    more: next === "" ? undefined : async () => await attributePage(tenant, filter, next),
  };
}
