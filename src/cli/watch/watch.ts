import { withServer, readAskedWords, switchKind } from "../client/asked-words.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, pour, remark, warn } from "../output.ts";
import { listenForStop } from "../process-events.ts";
import { changeText } from "./change-answer.ts";
import { follow } from "./follow.ts";

const flags = new Map([
  ["snap-token", {}],
  ["json", switchKind],
]);

export const watch: Command = {
  name: "watch",
  summary: "print changes of tuples and attributes as they are made",
  flags: withServer(flags),
  help: () => `usage: pemba watch [flags]

Prints each tuple and attribute that is written (+) or deleted (-) from now on, in text notation, until it is
stopped by Ctrl-C. If the connection breaks, it goes on from the last state. A transaction of which a part
was printed is then printed again from its beginning. The server needs \`service.watch.enabled\`.

  pemba watch --snap-token "$(pemba tuple write document:1#viewer@user:ada)"

  --snap-token  begin after this state of the data
  --json        print the messages of the server, each in a line. The first one has the state at which the
                stream begins, and each has the snap token after which a later watch goes on.

${serverHelp}

The exit status is 0 if it is stopped, and 1 after an error. If it had begun, a line says how to go on.`,

  async run(args) {
    const asked = readAskedWords("watch", args, [], flags);
    if (asked.kind === "problems") return complain(...asked.problems);
    const stop = listenForStop();
    const repetition = {
      onWait: (reason: string, waitMs: number) =>
        warn(`the stream goes on in ${waitMs / 1_000} s: ${reason}`),
      signal: stop.signal,
    };
    const after = asked.values.get("snap-token") ?? "";
    let reached = "";
    try {
      for await (const { snapToken, message } of follow(asked.server, after, repetition)) {
        if (asked.switches.has("json")) {
          // A new connection begins with the state that the last one ended with.
          if (message !== undefined || snapToken !== reached)
            await pour(jsonLine(snapToken, message));
        } else await pour((message?.data_changes.changes ?? []).map(textLine).join(""));
        reached = snapToken;
      }
      return 0;
    } finally {
      stop.close();
      // The terminal has written ^C into the line.
      if (stop.signal.aborted && process.stderr.isTTY) process.stderr.write("\n");
      if (reached !== "") remark(`watch: to go on, run \`pemba watch --snap-token ${reached}\``);
    }
  },
};

function jsonLine(snapToken: string, message: object | undefined): string {
  const begun = { snap_token: snapToken, data_changes: { changes: [] } };
  return `${JSON.stringify(message ?? begun)}\n`;
}

function textLine(change: Parameters<typeof changeText>[0]): string {
  return `${changeText(change)}\n`;
}
