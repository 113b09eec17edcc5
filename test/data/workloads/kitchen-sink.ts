import { type Dataset, type Question, spread } from "../dataset.ts";
import { entitiesOf, usersOf, type Workload, type WorkloadLookups } from "../workload.ts";
import {
  chainsOf,
  type Company,
  companyFacts,
  companyOf,
  type CompanyScale,
  companySchema,
  documentOf,
  documentsOf,
  memberOf,
  readersOf,
  shareOf,
  teamOf,
} from "./company.ts";

/**
 * A bit of everything that a company has, in sizes of a public benchmark: organizations with teams,
 * projects, folders and documents, groups in groups, robots, administrators, people who are barred.
 */
export function kitchenSink(scale: CompanyScale): Workload {
  const company = companyOf(scale);
  return {
    name: `kitchen_sink_${scale}`,
    schema: companySchema,
    key: JSON.stringify(company),
    facts: () => companyFacts(company),
    classes: classesOf(company),
    lookups: lookupsOf(company),
    published: company.published,
  };
}

function classesOf(company: Company): Dataset["classes"] {
  const projects = spread(company.organizations * company.projects, 100);
  const classOf = (
    name: string,
    question: (project: number) => Omit<Question, "permission"> & { readonly permission?: string },
  ) => ({ name, questions: projects.map((at) => ({ permission: "view", ...question(at) })) });
  const first = (at: number) => documentOf(at, 1);
  return [
    classOf("owner", (at) => ({ entity: first(at), user: `contributor-${at}`, allowed: true })),
    classOf("public", (at) => ({ entity: documentOf(at, 0), user: "stranger", allowed: true })),
    classOf("team, through all folders", (at) => {
      const user = `user-${memberOf(company, at)}`;
      return { entity: first(at), user, allowed: true };
    }),
    classOf("nested group", (at) => {
      const user = `deep-${teamOf(company, at) % chainsOf(company)}`;
      return { entity: first(at), user, allowed: true };
    }),
    classOf("reader", (at) => ({
      entity: first(at),
      user: readersOf(company, at, 1)[0] ?? "",
      allowed: true,
    })),
    classOf("administrator", (at) => ({ entity: first(at), user: "admin-0", allowed: true })),
    classOf("barred, denied", (at) => ({
      entity: first(at),
      user: `barred-${at}`,
      allowed: false,
    })),
    classOf("stranger, denied", (at) => ({ entity: first(at), user: "stranger", allowed: false })),
    classOf("edit by the owner", (at) => {
      const user = `contributor-${at}`;
      return { entity: first(at), user, permission: "edit", allowed: true };
    }),
    classOf("edit by an owner outside, denied", (at) => {
      const user = `outsider-${at}`;
      return { entity: documentOf(at, 2), user, permission: "edit", allowed: false };
    }),
  ];
}

function lookupsOf(company: Company): readonly WorkloadLookups[] {
  const projects = spread(company.organizations * company.projects, 20);
  return [
    {
      name: "documents to edit",
      lookups: projects.map((at) => {
        const owned = documentsOf(company).filter((nth) => nth % 2 === 1);
        const found = owned.map((nth) => documentOf(at, nth).id);
        return entitiesOf(`contributor-${at}`, "document", "edit", found);
      }),
    },
    {
      name: "users of a document",
      lookups: projects.map((at) => usersOf(documentOf(at, 1), "view", viewersOf(company, at))),
    },
  ];
}

/** Of the second document of a project; those who are barred stand in it only as contributors. */
function viewersOf(company: Company, at: number): readonly string[] {
  const team = teamOf(company, at);
  const share = shareOf(company);
  const admins = Array.from({ length: company.admins }, (_, nth) => `admin-${nth}`);
  const members = Array.from({ length: share }, (_, nth) => `user-${team * share + nth}`);
  const others = [`contributor-${at}`, `lead-${team}`, `deep-${team % chainsOf(company)}`];
  return [...admins, ...members, ...others, ...readersOf(company, at, 1)];
}
