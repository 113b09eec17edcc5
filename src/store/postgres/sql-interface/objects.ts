import { statementFile } from "../connect/statement-file.ts";

/** The objects of the interface, in the order in which they are made. */
export const objectFiles: {
  readonly before: readonly string[];
  readonly after: readonly string[];
} = {
  before: [
    statementFile("interface/entry-schema.sql"),
    statementFile("interface/entry-comment.sql"),
    statementFile("interface/plan-schema.sql"),
    statementFile("interface/installation.sql"),
    statementFile("interface/plans.sql"),
    statementFile("interface/questions.sql"),
    statementFile("interface/questions-by-plan.sql"),
    statementFile("interface/versions.sql"),
    statementFile("interface/names.sql"),
    statementFile("interface/locate.sql"),
    statementFile("interface/undecided.sql"),
    statementFile("interface/rounded-json.sql"),
    statementFile("interface/context-data.sql"),
    statementFile("interface/missing-functions.sql"),
    statementFile("interface/keep-function.sql"),
    statementFile("interface/make-functions.sql"),
    statementFile("interface/put-questions.sql"),
    statementFile("interface/put-names.sql"),
    statementFile("interface/write-schema-function.sql"),
    statementFile("interface/sync-version-function.sql"),
    statementFile("interface/remove-functions-function.sql"),
    statementFile("interface/may.sql"),
    statementFile("interface/may-of.sql"),
    statementFile("interface/visible.sql"),
    statementFile("interface/visible-ids.sql"),
    statementFile("interface/visible-count.sql"),
    statementFile("interface/who.sql"),
    statementFile("interface/list-reach.sql"),
    statementFile("interface/list-few.sql"),
    statementFile("interface/list-scan.sql"),
    statementFile("interface/begin-write.sql"),
    statementFile("interface/suggest.sql"),
    statementFile("interface/not-among.sql"),
    statementFile("interface/part-fault.sql"),
    statementFile("interface/shown-json.sql"),
    statementFile("interface/json-part-fault.sql"),
    statementFile("interface/text-fault.sql"),
    statementFile("interface/tuple-part-fault.sql"),
    statementFile("interface/value-type.sql"),
    statementFile("interface/attribute-value.sql"),
    statementFile("interface/attribute-part-fault.sql"),
    statementFile("interface/entity-types.sql"),
    statementFile("interface/tuple-fault.sql"),
    statementFile("interface/attribute-fault.sql"),
    statementFile("interface/refuse-data.sql"),
    statementFile("interface/refuse-tuple-parts.sql"),
    statementFile("interface/refuse-tuples.sql"),
    statementFile("interface/refuse-attributes.sql"),
    statementFile("interface/read-tuples.sql"),
    statementFile("interface/read-attributes.sql"),
    statementFile("interface/token-code.sql"),
    statementFile("interface/write-tuple.sql"),
    statementFile("interface/write-tuples.sql"),
    statementFile("interface/delete-tuples.sql"),
    statementFile("interface/delete-entity.sql"),
    statementFile("interface/write-attributes.sql"),
    statementFile("interface/delete-attributes.sql"),
    statementFile("interface/refuse-derived-elements.sql"),
    statementFile("interface/refuse-unfit-rows.sql"),
    statementFile("interface/create-derived-tuples.sql"),
    statementFile("interface/delete-derived-tuples.sql"),
    statementFile("interface/set-derived-attributes.sql"),
    statementFile("interface/delete-derived-attributes.sql"),
    statementFile("interface/delete-all-derived.sql"),
    statementFile("interface/keep-map.sql"),
    statementFile("interface/drop-map.sql"),
    statementFile("interface/token.sql"),
    statementFile("interface/announce.sql"),
  ],
  after: [statementFile("interface/revoke.sql")],
};

/** The function `subject()`, by the source of its id. */
export const subjectFiles = {
  setting: statementFile("interface/subject-of-setting.sql"),
  jwt: statementFile("interface/subject-of-claim.sql"),
} as const;

/** The functions that take tenant and subject from settings. */
export const boundObjects: { readonly make: readonly string[]; readonly drop: readonly string[] } =
  {
    make: [
      statementFile("interface/bound-tenant.sql"),
      statementFile("interface/my-may.sql"),
      statementFile("interface/my-may-of.sql"),
      statementFile("interface/my-visible.sql"),
      statementFile("interface/my-visible-count.sql"),
      statementFile("interface/revoke-bound.sql"),
    ],
    drop: [statementFile("interface/drop-bound.sql")],
  };

/** What drops the functions that applications call, and then what drops the rest. */
export const dropFiles: { readonly entry: readonly string[]; readonly rest: readonly string[] } = {
  entry: [
    statementFile("interface/refuse-maps.sql"),
    ...boundObjects.drop,
    statementFile("interface/drop-entry.sql"),
  ],
  rest: [
    statementFile("interface/drop-plans.sql"),
    statementFile("interface/drop-entry-schema.sql"),
  ],
};
