import type { Attribute, Context, Entity, Subject, Tuple } from "../../base/tuple.ts";
import type { ModelFile } from "../file/model-file.ts";

/** The data of a model test, as the exploration of a question asks it. */
export class TestData {
  readonly #subjects = new Map<string, Subject[]>();
  readonly #attributes = new Set<string>();
  readonly #ids = new Map<string, Set<string>>();
  readonly #below: TestData | undefined;

  private constructor(
    {
      tuples,
      attributes,
    }: { readonly tuples: readonly Tuple[]; readonly attributes: readonly Attribute[] },
    below: TestData | undefined,
  ) {
    this.#below = below;
    for (const { entity, relation, subject } of tuples) {
      const key = `${entity.type} ${entity.id} ${relation}`;
      const known = this.#subjects.get(key);
      if (known === undefined) this.#subjects.set(key, [subject]);
      else known.push(subject);
      this.#addId(entity);
      this.#addId(subject);
    }
    for (const { entity, attribute } of attributes) {
      this.#attributes.add(`${entity.type} ${entity.id} ${attribute}`);
      this.#addId(entity);
    }
  }

  static of({ tuples, attributes }: ModelFile): TestData {
    const values = <T>(placed: readonly { readonly value: T }[]): readonly T[] =>
      placed.map(({ value }) => value);
    return new TestData({ tuples: values(tuples), attributes: values(attributes) }, undefined);
  }

  /** The same data with what a question brings along. */
  with(context: Context): TestData {
    return context.tuples.length + context.attributes.length === 0
      ? this
      : new TestData(context, this);
  }

  /** The different subjects in a relation of an entity. */
  subjectsOf(entity: Entity, relation: string): readonly Subject[] {
    const own = this.#subjects.get(`${entity.type} ${entity.id} ${relation}`) ?? [];
    const all = [...(this.#below?.subjectsOf(entity, relation) ?? []), ...own];
    return [...new Map(all.map((one) => [`${one.type} ${one.id} ${one.relation}`, one])).values()];
  }

  hasAttribute(entity: Entity, attribute: string): boolean {
    return (
      this.#attributes.has(`${entity.type} ${entity.id} ${attribute}`) ||
      (this.#below?.hasAttribute(entity, attribute) ?? false)
    );
  }

  /** The ids of a type that stand in a tuple or in an attribute. */
  idsOf(type: string): ReadonlySet<string> {
    const own = this.#ids.get(type) ?? new Set<string>();
    return this.#below === undefined ? own : new Set([...own, ...this.#below.idsOf(type)]);
  }

  #addId({ type, id }: Entity): void {
    const ids = this.#ids.get(type);
    if (ids === undefined) this.#ids.set(type, new Set([id]));
    else ids.add(id);
  }
}
