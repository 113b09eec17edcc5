import type { Steps } from "../base/steps.ts";
import type { Cursor } from "./cursor.ts";
import { endOfRuleBody } from "./lexer.ts";
import { parseAttributeType } from "./parse-member.ts";
import type { ParameterNode, RuleNode } from "./tree.ts";

/** `rule name(parameter type, ...) { body }`. The body is another language and stays text. */
export function* parseRule(cursor: Cursor): Steps<RuleNode | undefined> {
  cursor.expect("RULE");
  const head = yield* cursor.attempt(() => parseHead(cursor), ["LCB", "ENTITY", "RULE"]);
  // A wrong head still has a body, whose words must not be taken for statements.
  if (head === undefined && !cursor.at("LCB")) return undefined;
  if (!cursor.at("LCB")) cursor.failExpecting("LCB");
  const offset = cursor.token.end;
  const end = endOfRuleBody(cursor.source.text, offset);
  if (end === undefined) {
    const name = head === undefined ? "" : ` \`${head.name.text}\``;
    cursor.fail(
      `expected token to be RCB, got EOF instead: the body of rule${name} that begins here is not closed`,
    );
  }
  cursor.jump(end + 1);
  if (head === undefined) return undefined;
  return {
    kind: "rule",
    ...head,
    body: { text: cursor.source.text.slice(offset, end), offset },
  };
}

function* parseHead(cursor: Cursor): Steps<Pick<RuleNode, "name" | "parameters">> {
  const name = cursor.name();
  cursor.expect("LP");
  const parameters: ParameterNode[] = [];
  cursor.passSemicolons();
  while (!cursor.at("RP")) {
    parameters.push({ name: cursor.name(), type: parseAttributeType(cursor) });
    yield;
    cursor.passSemicolons();
    if (!cursor.accept("COMMA")) break;
    cursor.passSemicolons();
  }
  cursor.expect("RP");
  cursor.passSemicolons();
  return { name, parameters };
}
