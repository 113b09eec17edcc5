import { namedContext, readContexts, writeContexts } from "../client/contexts.ts";
import type { Command } from "../command.ts";
import { say } from "../output.ts";
import { contextPart } from "./context-part.ts";

export const remove: Command = contextPart({
  name: "remove",
  summary: "forget a server",
  about: `Removes a context with its token. If it was in use, none is in use then.

  pemba context remove prod`,
  act: (name) => {
    const known = readContexts();
    namedContext(known, name);
    writeContexts({
      current: known.current === name ? "" : known.current,
      contexts: known.contexts.filter((one) => one.name !== name),
    });
    say(`${name} is removed`);
  },
});
