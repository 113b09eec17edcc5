import type { SubjectSource } from "../../config/subject-source.ts";
import type { PolicyCommand, PolicyForm } from "../../sql/application/policy.ts";

/** What a policy does, and what it does not protect against, for those who read the migration. */
export function policyNotes({
  form,
  command,
  permission,
  subject,
  visibleMax,
  hasParts,
}: {
  readonly form: PolicyForm;
  readonly command: PolicyCommand;
  readonly permission: string;
  readonly subject: SubjectSource;
  readonly visibleMax: number;
  /** It has partitions, or tables that inherit from it. */
  readonly hasParts: boolean;
}): readonly string[] {
  return [
    `Row security by the permission \`${permission}\`: a role uses the rows that the subject is allowed.`,
    "",
    ...(command === "insert" ? [] : formNotes(form, visibleMax)),
    ...(command === "select" || command === "delete" ? [] : newRowNotes),
    ...subjectNotes(subject),
    "",
    "- A role that uses the table needs the rights of `pemba sql grant --role ROLE --for ask`, and its own",
    "  on the table. That role can then ask for every tenant and every subject.",
    "- Row security does not bind the owner of the table, superusers, and roles with `bypassrls`. To bind",
    "  the owner as well, run `alter table ... force row level security`.",
    "- A command without a policy is refused, or finds no rows, once row security is enabled. `update` and",
    "  `delete` with a condition also need a policy for `select`.",
    "- Policies of a table are joined by `or`: each one can only let more rows through.",
    ...(hasParts
      ? [
          "- The table has partitions, or tables that inherit from it: a query of one of these itself is bound",
          "  by the policies of that one alone.",
        ]
      : []),
    "- A view reads the table with the rights of its owner, so make views of it with `security_invoker`.",
  ];
}

function formNotes(form: PolicyForm, visibleMax: number): readonly string[] {
  return form === "set"
    ? [
        "The form `set` is bounded by what the subject sees. Each query first finds all ids that the subject",
        "sees, once, and then their rows by the index on the key. So every query of a subject that sees much",
        `is slow, also a query of one row. A subject that sees more than ${visibleMax} ids gets an error`,
        "(`database.sql.visible_max`). For pages of such subjects, use a function of `pemba sql list`. Use the",
        "form `check` for a table that is read by key or by a selective column.",
        "",
      ]
    : [
        "The form `check` is bounded by the rows that are left. It asks for each row that the other conditions",
        "of a query leave, one check a row. So a query that leaves many rows is slow, such as the newest rows",
        "for a subject that sees few. Use the form `set` for a table that is read in other ways.",
        "",
      ];
}

const newRowNotes: readonly string[] = [
  "A row that is written must be allowed as it is afterwards, by a check. So the permission on a new row",
  "must be there before the row. `returning` also needs a policy for `select` that allows the row.",
  "",
];

function subjectNotes(subject: SubjectSource): readonly string[] {
  const source =
    subject.kind === "setting"
      ? `the setting \`${subject.name}\`: set it for each transaction`
      : `the claim \`${subject.claim}\` in the setting \`request.jwt.claims\``;
  return [
    `The subject comes from ${source}.`,
    "Without a subject, no row is seen. The policy is only as safe as that setting: a role that can run",
    "SQL of its own can set it to any subject. It protects against conditions that were forgotten, and",
    "against clients behind a gateway that lets them run no SQL.",
  ];
}
