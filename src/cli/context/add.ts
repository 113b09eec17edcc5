import { resolve } from "node:path";

import { parseFlags } from "../../config/flags.ts";
import { readContexts, type KeptServer, writeContexts } from "../client/contexts.ts";
import { certificateProblem, serverFlags, urlProblem } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, say, surplus } from "../output.ts";
import { readText } from "../schema-text.ts";

const namePattern = /^[\w.-]{1,64}$/;

export const add: Command = {
  name: "add",
  summary: "keep a server under a name",
  flags: serverFlags,
  help: () => `usage: pemba context add NAME --url URL [flags]

Keeps a server under a name, and uses it if no other one is in use. The commands that ask a server then need
no flags for it. The file is \`pemba/contexts.json\` in XDG_CONFIG_HOME, or in ~/.config. Only you can read it.

  pemba context add prod --url https://pemba.example --tenant acme --token - < token.txt

  --url     server
  --tenant  tenant (default t1)
  --token   bearer token, or \`-\` to read it from standard input, where no list of processes shows it
  --ca      file with certificates to trust, in PEM, beside those of the system`,

  async run(args) {
    const { values, positionals, problems } = parseFlags(args, serverFlags);
    const [name, ...others] = positionals;
    if (name === undefined) problems.push("context add: expected NAME");
    else if (!namePattern.test(name)) {
      problems.push(`context add: \`${name}\` is not a name of 1 to 64 letters, digits, _ - .`);
    }
    problems.push(...surplus("context add", others));
    const url = values.get("url");
    if (url === undefined) problems.push("context add: expected --url");
    else problems.push(...urlProblem("--url", url));
    const ca = values.get("ca");
    const fault = ca === undefined ? undefined : certificateProblem(ca);
    if (fault !== undefined) problems.push(fault);
    if (problems.length > 0 || name === undefined || url === undefined)
      return complain(...problems);
    const known = readContexts();
    if (known.contexts.some((one) => one.name === name)) {
      return complain(`context add: \`${name}\` is there already, remove it first`);
    }
    const tenant = values.get("tenant");
    const token = tokenOf(values.get("token"));
    const added: KeptServer = {
      name,
      url,
      ...(tenant !== undefined && { tenant }),
      ...(token !== undefined && { token }),
      ...(ca !== undefined && { ca: resolve(ca) }),
    };
    const current = known.current === "" ? name : known.current;
    writeContexts({ current, contexts: [...known.contexts, added] });
    say(current === name ? `${name} is in use` : `${name} is kept, ${current} is in use`);
    return 0;
  },
};

function tokenOf(given: string | undefined): string | undefined {
  return given === "-" ? readText("-", "--token").trim() : given;
}
