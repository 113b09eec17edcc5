import type { RateLimit } from "../auth/rate-limit.ts";
import type { Config } from "../config/options.ts";
import type { MakeShares, SharedName } from "../intake/intake.ts";
import { BorrowedRate } from "./borrowed-rate.ts";
import { BorrowedShares } from "./borrowed-shares.ts";
import type { ToWorker } from "./message.ts";
import type { SupervisorChannel } from "./supervisor-channel.ts";

/** The limits of the instance, as a worker has them. */
export interface BorrowedLimits {
  readonly rateLimit: RateLimit;
  readonly makeShares: MakeShares;
}

/** Makes the limits that a worker shares with the others of its instance. */
export function borrowLimits(
  channel: SupervisorChannel,
  config: Config,
  workers: number,
): BorrowedLimits {
  const asked = new Map<number, (amount: number) => void>();
  const made = new Map<SharedName, BorrowedShares>();
  let lastId = 0;
  const ask = async (question: (id: number) => Parameters<SupervisorChannel["send"]>[0]) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    lastId += 1;
    asked.set(lastId, resolve);
    channel.send(question(lastId));
    return await promise;
  };
  channel.onMessage((message: ToWorker) => {
    if (message.kind === "granted") {
      asked.get(message.id)?.(message.amount);
      asked.delete(message.id);
    }
    if (message.kind === "recall") made.get(message.loan.resource)?.recalled(message.loan);
  });
  return {
    rateLimit: new BorrowedRate({
      perSecond: config["server.rate_limit"],
      workers,
      takeTokens: async (most) => await ask((id) => ({ kind: "tokens", id, most })),
    }),
    makeShares: (name, ofTenant, resource) => {
      const shares = new BorrowedShares({
        name,
        ofTenant,
        workers,
        resource,
        link: {
          borrow: async (loan, { least, most }) =>
            await ask((id) => ({ kind: "borrow", id, loan, least, most })),
          giveBack: (loan, amount) => channel.send({ kind: "give_back", loan, amount }),
        },
      });
      made.set(name, shares);
      return shares;
    },
  };
}
