import {
  type Dataset,
  type Fact,
  fact,
  type Question,
  type QuestionClass,
  spread,
} from "./dataset.ts";

/**
 * Users, their contents and interactions on them, public or for followers: a load test that is in
 * use elsewhere for services of this kind, with its parameters. It asks for attributes and for an
 * intersection of two walks.
 */
export const socialSchema = `
entity user {
  relation self @user
  relation follower @user
  relation blocked @user
  attribute is_public boolean
  permission view = self or (is_public or follower) not blocked
}

entity content {
  relation owner @user
  attribute is_public boolean
  permission view = owner.self or (is_public or owner.follower) not owner.blocked
}

entity interaction {
  relation creator @user
  relation parent @content
  permission view = creator.self or (creator.view and parent.view)
}
`;

/** Six tuples and two attributes for each user. */
export function socialDataset({
  users,
  questions,
}: {
  readonly users: number;
  readonly questions: number;
}): Dataset {
  return {
    name: "social",
    schema: socialSchema,
    key: String(users),
    facts: () => socialFacts(users),
    classes: socialClasses(users, questions),
  };
}

function* socialFacts(users: number): Generator<Fact> {
  for (let index = 0; index < users; index++) {
    const user = at("user", index);
    const content = at("content", index);
    const interaction = at("interaction", index);
    yield fact(user, "self", user);
    yield fact(user, "follower", at("user", index + 1));
    yield fact(user, "blocked", at("user", index + 2));
    yield fact(content, "owner", user);
    yield fact(interaction, "creator", user);
    yield fact(interaction, "parent", content);
    for (const entity of [user, content]) {
      const value = { type: "boolean", data: isPublic(index) } as const;
      yield { kind: "attribute", attribute: { entity, attribute: "is_public", value } };
    }
  }
}

function socialClasses(users: number, questions: number): readonly QuestionClass[] {
  const indexes = spread(users, questions);
  return ["content", "interaction"].flatMap((type) => [
    { name: `${type} by a stranger`, questions: indexes.map((index) => ask(type, index, 3)) },
    { name: `${type} by a follower`, questions: indexes.map((index) => ask(type, index, 1)) },
    { name: `${type} by a blocked user`, questions: indexes.map((index) => ask(type, index, 2)) },
  ]);
}

/** May the user `distance` after the owner view it? */
function ask(type: string, index: number, distance: number): Question {
  return {
    entity: at(type, index),
    permission: "view",
    user: String(index + distance),
    allowed: distance === 1 || (isPublic(index) && distance !== 2),
  };
}

const isPublic = (index: number): boolean => index % 4 === 0;

const at = (type: string, index: number): { readonly type: string; readonly id: string } => ({
  type,
  id: String(index),
});
