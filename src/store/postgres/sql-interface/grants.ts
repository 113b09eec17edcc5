import { statementFile } from "../connect/statement-file.ts";
import { filled } from "./interface-names.ts";

/**
 * What a role may be granted: to ask for any tenant and subject, the same for the tenant and subject of
 * settings alone, to write into any tenant, or to make functions of lists or maps.
 */
export type GrantedGroup = "ask" | "bound" | "write" | "list" | "map";

const usage = statementFile("interface/grant-usage.sql");

const files: Readonly<Record<GrantedGroup, readonly string[]>> = {
  ask: [usage, statementFile("interface/grant-ask.sql")],
  bound: [usage, statementFile("interface/grant-bound.sql")],
  write: [usage, statementFile("interface/grant-write.sql")],
  list: [
    usage,
    statementFile("interface/grant-create.sql"),
    statementFile("interface/grant-list.sql"),
  ],
  map: [
    usage,
    statementFile("interface/grant-create.sql"),
    statementFile("interface/grant-map.sql"),
  ],
};

/** The statements, without semicolons, that grant a role a group of functions of the entry schema. */
export function grantStatements(
  group: GrantedGroup,
  names: { readonly entry: string; readonly role: string },
): readonly string[] {
  return files[group].map((file) => filled(file, names).trimEnd());
}
