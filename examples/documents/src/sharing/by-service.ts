import type { Database } from "../data/database.ts";
import type { Pemba, Tuple } from "../data/pemba.ts";
import { outcomeOf, permit, type Permit } from "./permit.ts";
import type { Outcome, Share, Sharing } from "./sharing.ts";

/** Asks the database whether the user may share, and then sends the change to Pemba's server. */
export function sharingByService(database: Database, pemba: Pemba): Sharing {
  const whenPermitted = async (
    user: string,
    share: Share,
    change: () => Promise<void>,
  ): Promise<Outcome> => {
    const [row] = await database.ask(
      user,
      (sql) => sql<Permit[]>`
        select p.may_share as "mayShare", p.is_person as "isPerson"
        from (${permit(sql, user, share)}) p
      `,
    );
    const outcome = outcomeOf(row);
    if (outcome === "done") await change();
    return outcome;
  };
  return {
    share: (user, share) =>
      whenPermitted(user, share, () => pemba.write({ tuples: [tupleOf(share)] })),
    unshare: (user, share) => whenPermitted(user, share, () => pemba.deleteTuple(tupleOf(share))),
    shareWithEveryone: (user, { id, mayView }) => {
      const entity = { type: "document", id };
      const flag = { entity, attribute: "public", value: mayView };
      return whenPermitted(user, { id, person: user }, () => pemba.write({ flags: [flag] }));
    },
  };
}

function tupleOf({ id, person }: Share): Tuple {
  return {
    entity: { type: "document", id },
    relation: "viewer",
    subject: { type: "user", id: person },
  };
}
