/** A node of an explanation as REST has it. */
export interface ProofBody {
  readonly entity: { readonly type: string; readonly id: string };
  readonly name: string;
  readonly can: string;
  readonly reason: string;
  readonly expression: string;
  readonly line: number;
  readonly column: number;
  readonly tuple?: {
    readonly entity: { readonly type: string; readonly id: string };
    readonly relation: string;
    readonly subject: { readonly type: string; readonly id: string; readonly relation: string };
  };
  readonly attribute?: { readonly attribute: string; readonly value: { readonly data: unknown } };
  readonly rule?: {
    readonly name: string;
    readonly values: Readonly<Record<string, { readonly data: unknown }>>;
    readonly expression: string;
    readonly line: number;
    readonly column: number;
  };
  readonly children: readonly ProofBody[];
}

/** A tree as lines, a node each, with its children one level further in. */
export function proofLines(node: ProofBody, level = 0): readonly string[] {
  const { entity, name, can, reason, line, column } = node;
  const place = `${node.expression.replaceAll(/\s+/g, " ")} (${line}:${column})`;
  const verdict = can.replace("RESULT_", "").toLowerCase();
  const own = `${entity.type}:${entity.id}#${name} ${verdict} ${reason} ${place}${evidence(node)}`;
  return [
    `${"  ".repeat(level)}${own}`,
    ...node.children.flatMap((child) => proofLines(child, level + 1)),
  ];
}

function evidence({ tuple, attribute, rule }: ProofBody): string {
  if (tuple !== undefined) {
    const { entity, relation, subject } = tuple;
    const userset = subject.relation === "" ? "" : `#${subject.relation}`;
    return `: ${entity.type}:${entity.id}#${relation}@${subject.type}:${subject.id}${userset}`;
  }
  if (attribute !== undefined) {
    return `: ${attribute.attribute} = ${JSON.stringify(attribute.value.data)}`;
  }
  if (rule === undefined) return "";
  const values = Object.entries(rule.values).map(
    ([name, { data }]) => `${name} = ${JSON.stringify(data)}`,
  );
  return `: ${rule.name}(${values.join(", ")})`;
}
