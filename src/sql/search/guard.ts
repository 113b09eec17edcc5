import type { Guard } from "../../plan/plan.ts";
import { type Fragment, join, sql } from "../text/fragment.ts";
import type { ReachedEntity, Writer } from "./writer.ts";

/**
 * Several guards as one expression. If all are exact, it is a condition. If not, it is a verdict (0
 * denied, 1 unknown, 2 allowed), since nothing behind an unknown guard is definite.
 */
export type Passage =
  | { readonly kind: "open" }
  | { readonly kind: "exact"; readonly holds: Fragment }
  | { readonly kind: "verdict"; readonly value: Fragment };

export function passage(writer: Writer, guards: readonly Guard[], at: ReachedEntity): Passage {
  if (guards.length === 0) return { kind: "open" };
  const exact = guards.filter((guard) => writer.exact.has(guard.state));
  const others = guards.filter((guard) => !writer.exact.has(guard.state));
  const conditions = exact.map((guard) => {
    const holds = writer.holds(guard.state, at);
    return guard.polarity === "required" ? holds : sql`not ${holds}`;
  });
  if (others.length === 0) return { kind: "exact", holds: sql`(${join(conditions, " and ")})` };
  const values = others.map((guard) => {
    const verdict = writer.judge(guard.state, at);
    return guard.polarity === "required" ? verdict : sql`2 - ${verdict}`;
  });
  const value = values.length === 1 ? join(values, "") : sql`least(${join(values, ", ")})`;
  return {
    kind: "verdict",
    value:
      conditions.length === 0
        ? value
        : sql`case when ${join(conditions, " and ")} then ${value} else 0 end`,
  };
}

/** A verdict behind guards: at most the verdict of these. */
export function behind(passed: Passage, verdict: Fragment): Fragment {
  switch (passed.kind) {
    case "open":
      return verdict;
    case "exact":
      return sql`case when ${passed.holds} then ${verdict} else 0 end`;
    case "verdict":
      return sql`least(${passed.value}, ${verdict})`;
  }
}
