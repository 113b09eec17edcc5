import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { treeMax } from "../../src/plan/limit.ts";
import { type Answer, engines, type TestApp } from "../support/engines.ts";
import { restFacts } from "../support/rest-facts.ts";

const schema = `
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  attribute note string
  permission found = named(note) or parent.found
}
rule named(note string) { note == "plan" }
`;

const levels = 11;

/** Two nodes a level, each linked to both of the next: 2^(levels - 1) paths to each of the last. */
function diamonds(name: string, link: (from: string, to: string) => string): string[] {
  const sides = ["a", "b"];
  return Array.from({ length: levels }, (_, level) =>
    sides.flatMap((from) =>
      sides.map((to) => link(`${name}-${level}${from}`, `${name}-${level + 1}${to}`)),
    ),
  ).flat();
}

const nested = (from: string, to: string): string => `group:${from}#member@group:${to}#member`;

const members = (group: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `group:${group}#member@user:u${index}`);

/** Groups of which each but the last is a member of the one before. */
const chain = (name: string, length: number): string[] =>
  Array.from({ length: length - 1 }, (_, index) =>
    nested(`${name}-${index}`, `${name}-${index + 1}`),
  );

for (const engine of engines) {
  describe(`limits of expand on ${engine.name}`, () => {
    let app: TestApp;
    let path: string;

    before(async () => {
      app = await engine.start({ maxDataPerWrite: 25_000 });
      path = await app.tenant(schema);
    });
    after(() => app.close());

    async function write(facts: readonly string[]): Promise<void> {
      const written = await app.post(`${path}/data/write`, { metadata: {}, ...restFacts(facts) });
      assert.equal(written.status, 200, written.message);
    }

    const expand = async (entity: string, permission: string): Promise<Answer> => {
      const [type, id] = entity.split(":");
      const body = { metadata: {}, entity: { type, id }, permission };
      return await app.post(`${path}/permissions/expand`, body);
    };

    function isRefused({ status, message }: Answer): void {
      assert.equal(status, 400, message);
      assert.match(
        message,
        /^ERROR_CODE_GATHER_LIMIT_EXCEEDED: permission: its tree has more than/,
      );
    }

    test("a group of 20,000 members is expanded", async () => {
      const count = 20_000;
      await write(members("all", count));
      const answer = await expand("group:all", "member");
      const ids = members("all", count).map((_, index) => `u${index}`);
      assert.deepEqual(answer.body, {
        tree: {
          target: { entity: { type: "group", id: "all" }, relation: "member" },
          node: {
            leaf: { subjects: ids.toSorted().map((id) => ({ type: "user", id, relation: "" })) },
          },
        },
      });
    });

    test("members count once for each path to their group", async () => {
      const paths = 2 ** levels;
      const few = Math.floor(treeMax.subjects / paths / 2);
      await write([
        ...diamonds("few", nested),
        ...members(`few-${levels}a`, few),
        ...members(`few-${levels}b`, few),
      ]);
      assert.equal((await expand("group:few-0a", "member")).status, 200);
      const many = 2 * few + 2;
      await write([...members(`few-${levels}a`, many), ...members(`few-${levels}b`, many)]);
      isRefused(await expand("group:few-0a", "member"));
      assert.equal((await expand("group:few-1a", "member")).status, 200);
    });

    test("a value counts by its length, once for each path to its entity", async () => {
      const link = (from: string, to: string): string => `folder:${from}#parent@folder:${to}`;
      const note = (length: number): string =>
        `folder:noted-${levels}a$note|string:${"x".repeat(length)}`;
      await write([...diamonds("noted", link), note(100)]);
      // The levels above multiply the nodes, too.
      const top = "folder:noted-2a";
      assert.equal((await expand(top, "found")).status, 200);
      await write([note(100_000)]);
      isRefused(await expand(top, "found"));
      assert.equal((await expand("folder:noted-9a", "found")).status, 200);
    });

    test("a tree is as deep as it can be written, and a deeper one is refused", async () => {
      await write(chain("chain", treeMax.levels + 1));
      isRefused(await expand("group:chain-0", "member"));
      assert.equal((await expand("group:chain-1", "member")).status, 200);
    });

    test("a tree of too many nodes is refused", async () => {
      await write(Array.from({ length: treeMax.nodes }, (_, index) => nested("wide", `w${index}`)));
      isRefused(await expand("group:wide", "member"));
    });
  });
}
