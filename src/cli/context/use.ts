import { namedContext, readContexts, writeContexts } from "../client/contexts.ts";
import type { Command } from "../command.ts";
import { say } from "../output.ts";
import { contextPart } from "./context-part.ts";

export const use: Command = contextPart({
  name: "use",
  summary: "choose the server of later commands",
  about: `Uses a context from now on: commands that ask a server ask this one. A flag or a variable wins over it.
With --url or PEMBA_URL for another server, nothing of the context counts, so no token goes there.

  pemba context use prod`,
  act: (name) => {
    const known = readContexts();
    namedContext(known, name);
    writeContexts({ ...known, current: name });
    say(`${name} is in use`);
  },
});
