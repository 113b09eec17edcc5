import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { type Static, Type } from "typebox";
import { Check } from "typebox/schema";

import { PembaError } from "../../base/error.ts";
import { fieldOf } from "./fields.ts";

const optionalText = Type.Optional(Type.String());

const ContextShape = Type.Object({
  name: Type.String(),
  url: Type.String(),
  tenant: optionalText,
  token: optionalText,
  ca: optionalText,
});

const ContextsShape = Type.Object({
  /** The name of the context in use, or "". */
  current: Type.String(),
  contexts: Type.Array(ContextShape),
});

/** A server with a name, which the user keeps for later commands. */
export type KeptServer = Readonly<Static<typeof ContextShape>>;

/** The contexts of a user. */
export interface KeptServers {
  readonly current: string;
  readonly contexts: readonly KeptServer[];
}

/** The file of the contexts, in the folder where the user's programs have their configuration. */
function contextsFile(): string {
  const given = process.env["XDG_CONFIG_HOME"] ?? "";
  return join(given === "" ? join(homeFolder(), ".config") : given, "pemba", "contexts.json");
}

/** In a container a user may have none: then it is the root, where there are no contexts. */
function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}

/** Reads the contexts. No file means no contexts. Fails with INVALID_ARGUMENT if it is not readable. */
export function readContexts(): KeptServers {
  const file = contextsFile();
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (fieldOf(error, "code") === "ENOENT") return { current: "", contexts: [] };
    throw new PembaError("INVALID_ARGUMENT", `\`${file}\` cannot be read as contexts`, {
      cause: error,
    });
  }
  if (Check(ContextsShape, json)) return json;
  throw new PembaError("INVALID_ARGUMENT", `\`${file}\` does not hold contexts`);
}

/** The context in use. Undefined if there is none. */
export function currentContext(): KeptServer | undefined {
  const { current, contexts } = readContexts();
  return contexts.find(({ name }) => name === current);
}

/** The context with that name. Fails with INVALID_ARGUMENT, and names those that there are. */
export function namedContext({ contexts }: KeptServers, name: string): KeptServer {
  const found = contexts.find((one) => one.name === name);
  if (found !== undefined) return found;
  const known = contexts.map((one) => one.name).join(", ");
  const there = known === "" ? "there is none yet" : `there are ${known}`;
  throw new PembaError("INVALID_ARGUMENT", `no context \`${name}\`: ${there}`);
}

/** Replaces the file as a whole. Only the user may read it, because it has tokens. */
export function writeContexts(contexts: KeptServers): void {
  const file = contextsFile();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}`;
  // One that was left over would keep its own mode.
  rmSync(temporary, { force: true });
  try {
    const text = `${JSON.stringify(contexts, undefined, 2)}\n`;
    writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
