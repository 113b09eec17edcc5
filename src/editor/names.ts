import { Pace, type Steps } from "../base/steps.ts";
import { typesBehind } from "../language/scope.ts";
import {
  type Declaration,
  type DeclaredType,
  memberKey,
  type Mention,
  nameOf,
  parameterKey,
} from "./naming.ts";
import type { Outline } from "./outline.ts";

/** What the names of a schema stand for. If a name is declared several times, the first one counts. */
export class SchemaNames {
  /** Entities and rules, by name. */
  readonly statements: ReadonlyMap<string, Declaration>;
  readonly #byKey: ReadonlyMap<string, Declaration>;

  private constructor(
    statements: ReadonlyMap<string, Declaration>,
    byKey: ReadonlyMap<string, Declaration>,
  ) {
    this.statements = statements;
    this.#byKey = byKey;
  }

  static *of({ declarations }: Outline): Steps<SchemaNames> {
    const statements = new Map<string, Declaration>();
    const byKey = new Map<string, Declaration>();
    const pace = new Pace();
    for (const statement of declarations) {
      if (!statements.has(statement.key)) statements.set(statement.key, statement);
      for (const declaration of [statement, ...statement.children]) {
        if (!byKey.has(declaration.key)) byKey.set(declaration.key, declaration);
        if (pace.step()) yield;
      }
    }
    return new SchemaNames(statements, byKey);
  }

  entity(name: string): Declaration | undefined {
    return ofKind(this.statements.get(name), "entity");
  }

  rule(name: string): Declaration | undefined {
    return ofKind(this.statements.get(name), "rule");
  }

  member(entity: string, name: string): Declaration | undefined {
    return this.#byKey.get(memberKey(entity, name));
  }

  parameter(rule: string, name: string): Declaration | undefined {
    return this.#byKey.get(parameterKey(rule, name));
  }

  /** The declarations that a name stands for. A walk and an argument can stand for several. */
  meaningOf({ naming, text, within }: Mention): readonly Declaration[] {
    switch (naming.role) {
      case "declaration":
        return found(this.#byKey.get(within));
      case "type":
        return found(this.entity(text));
      case "member":
        return found(this.member(naming.entity, text));
      case "walked":
        return this.#walked(naming.entity, naming.relation, text);
      case "rule":
        return found(this.rule(text));
      case "argument":
        return found(this.member(naming.entity, text), this.parameter(naming.rule, text));
      case "parameter":
        return found(this.parameter(naming.rule, text));
      case "asked":
        return found(this.member(naming.entity, text) ?? this.rule(text));
      case "value-type":
      case "unknown":
        return [];
    }
  }

  /** The members that a walk over a relation can ask, one for each name. */
  askableThrough(entity: string, relation: string): readonly Declaration[] {
    const types = this.member(entity, relation)?.types ?? [];
    const byName = new Map<string, Declaration>();
    for (const { type } of types) {
      for (const member of this.entity(type)?.children ?? []) byName.set(nameOf(member), member);
    }
    return [...byName]
      .filter(([name]) => types.every((type) => this.#askedAt(type, name).length > 0))
      .map(([, member]) => member);
  }

  #walked(entity: string, relation: string, name: string): readonly Declaration[] {
    const types = this.member(entity, relation)?.types ?? [];
    return [...new Set(types.flatMap((type) => this.#askedAt(type, name)))];
  }

  /** What a walk asks behind one type: the entity itself or, if it has no such name, what the userset holds. */
  #askedAt(type: DeclaredType, name: string): readonly Declaration[] {
    const own = this.#askable(type.type, name);
    if (own.length > 0 || type.relation === "") return own;
    const typesOf = (userset: DeclaredType): readonly DeclaredType[] =>
      this.member(userset.type, userset.relation)?.types ?? [];
    return [...typesBehind(typesOf, type)].flatMap((inner) => this.#askable(inner.type, name));
  }

  #askable(entity: string, name: string): readonly Declaration[] {
    const member = this.member(entity, name);
    return member?.kind === "relation" || member?.kind === "permission" ? [member] : [];
  }
}

function ofKind(
  declaration: Declaration | undefined,
  kind: Declaration["kind"],
): Declaration | undefined {
  return declaration?.kind === kind ? declaration : undefined;
}

function found(...declarations: readonly (Declaration | undefined)[]): readonly Declaration[] {
  return declarations.filter((declaration) => declaration !== undefined);
}
