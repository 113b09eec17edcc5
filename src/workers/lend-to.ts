import type { Borrower, Lender } from "./lender.ts";
import type { WorkerProcess } from "./supervise.ts";

/** Lends to a worker as long as its process runs. */
export function lendTo(lender: Lender, worker: WorkerProcess): void {
  const borrower: Borrower = { send: (message) => worker.send(message) };
  const grant = (id: number, amount: number): void => worker.send({ kind: "granted", id, amount });
  lender.joined(borrower);
  worker.onEnd(() => lender.left(borrower));
  worker.onMessage((message) => {
    switch (message.kind) {
      case "hears":
      case "ready":
      case "alive":
      case "measured":
        return;
      case "tokens":
        grant(message.id, lender.takeTokens(message.most));
        return;
      case "borrow": {
        const { id, loan, least, most } = message;
        void lender.lend(borrower, loan, { least, most }).then((amount) => grant(id, amount));
        return;
      }
      case "give_back":
        lender.giveBack(borrower, message.loan, message.amount);
        return;
    }
  });
}
