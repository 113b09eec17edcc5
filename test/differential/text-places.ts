import { parseSchema } from "../../src/language/parse.ts";
import { printExpression } from "../../src/language/print.ts";
import type { Expression } from "../../src/language/schema.ts";
import type { SchemaPlace } from "../../src/store/explanation.ts";

/** Says what is wrong with places in the text of a schema, from its lines alone. */
export class TextPlaces {
  readonly #lines: readonly string[];

  constructor(text: string) {
    this.#lines = text.split("\n");
  }

  /** The place of a name: where it is declared, or an operand. */
  faultOfName({ text, position }: SchemaPlace, name: string): string | undefined {
    if (text !== name) return `shows \`${text}\` for \`${name}\``;
    const line = this.#lines[position.line - 1]?.slice(position.column - 1) ?? "";
    return new RegExp(`^${name}\\b`).test(line) ? undefined : `is not at ${placeText(position)}`;
  }

  /** The place of an expression: of a whole permission if it is given, else of an operand. */
  faultOfExpression(
    { text, position }: SchemaPlace,
    expression: Expression,
    permission: string | undefined,
  ): string | undefined {
    if (printed(text) !== printExpression(expression)) {
      return `shows \`${text}\` for \`${printExpression(expression)}\``;
    }
    const rest = [
      this.#lines[position.line - 1]?.slice(position.column - 1) ?? "",
      ...this.#lines.slice(position.line),
    ].join("\n");
    if (!rest.startsWith(text)) return `is not at ${placeText(position)}`;
    const before = this.#lines[position.line - 1]?.slice(0, position.column - 1) ?? "";
    const expected =
      permission === undefined
        ? /(=|\bor|\band|\bnot|\()\s*$/
        : new RegExp(`\\b(permission|action) ${permission} = *\\(*$`);
    return expected.test(before) ? undefined : `stands behind \`${before}\``;
  }

  /** The place of the body of a rule. */
  faultOfBody({ text, position }: SchemaPlace, rule: string): string | undefined {
    const lines = this.#lines.slice(0, position.line);
    const line = lines.pop() ?? "";
    const before = [...lines, line.slice(0, position.column - 1)].join("\n");
    const whole = this.#lines.join("\n");
    if (!new RegExp(`\\brule ${rule}\\([^)]*\\)\\s*\\{\\s*$`).test(before)) {
      return `a body of \`${rule}\` at ${placeText(position)}`;
    }
    const rest = whole.slice(before.length);
    const isWhole = rest.startsWith(text) && /^\s*\}/.test(rest.slice(text.length));
    return isWhole && text.trim() === text ? undefined : `shows \`${text}\` for a body`;
  }
}

function printed(text: string): string | undefined {
  const [entity] = parseSchema(`entity e { permission p = ${text} }`).statements;
  const member = entity?.kind === "entity" ? entity.members[0] : undefined;
  return member?.kind === "permission" ? printExpression(member.expression) : undefined;
}

function placeText({ line, column }: SchemaPlace["position"]): string {
  return `${line}:${column}`;
}
