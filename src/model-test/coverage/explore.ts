import type { Entity, Subject } from "../../base/tuple.ts";
import type { Schema } from "../../language/schema.ts";
import type { PermissionNode } from "../../language/tree.ts";
import { subjectText } from "../file/model-file.ts";
import type { TestTenant } from "../run/run-model.ts";
import { decide, type KnownValue } from "./decisive.ts";
import type { PartMarks } from "./part-marks.ts";
import { answersTo, type Probe, type ProbedSchema, type ProbeFrame, probeKey } from "./probe.ts";
import { type LeafNode, leavesOf, relationPartName } from "./schema-part.ts";
import type { TestData } from "./test-data.ts";

/** The most names of entities that are explored for one asserted answer. */
const maxExplored = 10_000;

/** The schema of a model test, as the exploration reads it. */
export interface ExploredSchema {
  readonly schema: Schema;
  readonly probed: ProbedSchema;
  /** Permissions by `type#name`. */
  readonly permissions: ReadonlyMap<string, PermissionNode>;
}

/** What all explored answers of a question have in common. */
export interface ExploredFrame extends ProbeFrame {
  readonly data: TestData;
  /** What was explored before in this frame. */
  readonly seen: Set<string>;
}

/**
 * Finds which parts of the schema decided an answer, and marks them. It begins at what was asked and goes
 * on to what decided it: an operand that could have any value without a change of the answer leads
 * nowhere.
 */
export class Explorer {
  readonly #tenant: TestTenant;
  readonly #schema: ExploredSchema;
  readonly #marks: PartMarks;

  constructor(tenant: TestTenant, schema: ExploredSchema, marks: PartMarks) {
    this.#tenant = tenant;
    this.#schema = schema;
    this.#marks = marks;
  }

  /** Explores one answer. */
  async explore(frame: ExploredFrame, asked: Probe): Promise<void> {
    const open = [asked];
    let explored = 0;
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const key = probeKey(next);
      if (frame.seen.has(key)) continue;
      frame.seen.add(key);
      explored += 1;
      if (explored > maxExplored) {
        this.#marks.isPartial = true;
        return;
      }
      open.push(...(await this.#part(frame, next)));
    }
  }

  /** Marks one name of an entity, and returns what decided it. */
  async #part(frame: ExploredFrame, probe: Probe): Promise<readonly Probe[]> {
    const { entity, name, subject } = probe;
    // The subject is what is asked: the schema has no part in the answer.
    const isSelf = entity.type === subject.type && entity.id === subject.id;
    if (isSelf && name === subject.relation) return [];
    const definition = this.#schema.schema.entities.get(entity.type);
    const permission = this.#schema.permissions.get(`${entity.type}#${name}`);
    if (permission !== undefined) return await this.#permission(frame, probe, permission);
    if (definition?.relations.has(name) === true) return await this.#relation(frame, probe);
    if (definition?.attributes.has(name) === true) this.#attribute(frame, entity, name);
    else this.#marks.decided("rule", name, await this.#answer(frame, probe));
    return [];
  }

  async #permission(
    frame: ExploredFrame,
    { entity, name, subject }: Probe,
    { expression }: PermissionNode,
  ): Promise<readonly Probe[]> {
    const leaves = leavesOf(expression);
    const probes = leaves.map((leaf) => ({
      entity,
      name: this.#schema.probed.nameOf(entity.type, leaf),
      subject,
    }));
    const answers = await answersTo(this.#tenant, frame, probes);
    const values = new Map(leaves.map((leaf, index) => [leaf, answers[index]]));
    const { value, decisive } = decide(expression, (leaf) => values.get(leaf));
    this.#marks.decided("permission", `${entity.type}#${name}`, value);
    const next: Probe[] = [];
    for (const leaf of decisive) {
      this.#marks.leafDecided(leaf, values.get(leaf));
      next.push(...(await this.#leaf(frame, { entity, subject }, leaf, values.get(leaf))));
    }
    return next;
  }

  /** What decided an operand. */
  async #leaf(
    frame: ExploredFrame,
    { entity, subject }: Omit<Probe, "name">,
    leaf: LeafNode,
    value: KnownValue,
  ): Promise<readonly Probe[]> {
    if (leaf.kind === "invocation") {
      this.#marks.decided("rule", leaf.rule.text, value);
      for (const { first } of leaf.arguments) this.#attribute(frame, entity, first.text);
      return [];
    }
    const [target] = leaf.rest;
    const name = leaf.first.text;
    if (target === undefined) return [{ entity, name, subject }];
    const ways = frame.data
      .subjectsOf(entity, name)
      .flatMap((via) =>
        this.#isAskable(via.type, target.text)
          ? [{ via, probe: { entity: { type: via.type, id: via.id }, name: target.text, subject } }]
          : [],
      );
    return await this.#decidingWays(frame, { entity, relation: name }, ways);
  }

  /** A relation holds by a tuple of the subject itself, or by one of a userset that it is in. */
  async #relation(
    frame: ExploredFrame,
    { entity, name, subject }: Probe,
  ): Promise<readonly Probe[]> {
    const ways = frame.data.subjectsOf(entity, name).flatMap((via): readonly Way[] => {
      const isSubject = subjectText(via) === subjectText(subject);
      if (!isSubject && via.relation === "") return [];
      const probe = { entity: { type: via.type, id: via.id }, name: via.relation, subject };
      return [{ via, probe: isSubject ? undefined : probe }];
    });
    return await this.#decidingWays(frame, { entity, relation: name }, ways);
  }

  /**
   * Marks the relation if only subjects of one type lead to an allowed answer. Returns what is behind
   * the only way that does, or behind all if none does.
   */
  async #decidingWays(
    frame: ExploredFrame,
    { entity, relation }: { readonly entity: Entity; readonly relation: string },
    ways: readonly Way[],
  ): Promise<readonly Probe[]> {
    const probes = ways.flatMap(({ probe }) => probe ?? []);
    const answers = await answersTo(this.#tenant, frame, probes);
    const values = new Map(probes.map((probe, index) => [probe, answers[index]]));
    // What has no answer may be allowed.
    const maybe = ways.filter(({ probe }) => probe === undefined || values.get(probe) !== false);
    const kinds = new Set(maybe.map(({ via }) => relationPartName(entity.type, relation, via)));
    const [kind] = kinds;
    const isKnown = maybe.every(({ probe }) => probe === undefined || values.get(probe) === true);
    if (kinds.size === 1 && kind !== undefined && isKnown)
      this.#marks.decided("relation", kind, true);
    const deciding = maybe.length === 0 ? ways : maybe;
    return maybe.length > 1 ? [] : deciding.flatMap(({ probe }) => probe ?? []);
  }

  #attribute(frame: ExploredFrame, entity: Entity, name: string): void {
    if (frame.data.hasAttribute(entity, name)) {
      this.#marks.decided("attribute", `${entity.type}$${name}`, true);
    }
  }

  async #answer(frame: ExploredFrame, probe: Probe): Promise<KnownValue> {
    const [value] = await answersTo(this.#tenant, frame, [probe]);
    return value;
  }

  /** Other types of a walk lead nowhere. */
  #isAskable(type: string, name: string): boolean {
    const definition = this.#schema.schema.entities.get(type);
    return (
      (definition?.relations.has(name) ?? false) || (definition?.permissions.has(name) ?? false)
    );
  }
}

/** A tuple by which a relation or a walk may hold. */
interface Way {
  readonly via: Subject;
  /** What has to hold besides. Undefined if the tuple is enough. */
  readonly probe: Probe | undefined;
}
