import { must } from "./assert.ts";
import { Pace, type Steps } from "./steps.ts";

/** Nodes that reach each other. */
export interface Component<T> {
  readonly members: readonly T[];
  /** Whether its nodes reach themselves. */
  readonly isCyclic: boolean;
}

interface GraphVisit<T> {
  readonly node: T;
  readonly successors: Iterator<T>;
  isOwnSuccessor: boolean;
}

/**
 * The strongly connected components that the roots reach (Tarjan 1972), each after the components
 * that it reaches. It keeps its own stack, because chains can be long.
 */
export function* componentsOf<T>(
  roots: Iterable<T>,
  successorsOf: (node: T) => Iterable<T>,
): Steps<readonly Component<T>[]> {
  const components: Component<T>[] = [];
  const index = new Map<T, number>();
  const low = new Map<T, number>();
  const open: T[] = [];
  const isOpen = new Set<T>();
  const visits: GraphVisit<T>[] = [];
  const pace = new Pace();

  const enter = (node: T): void => {
    low.set(node, index.size);
    index.set(node, index.size);
    open.push(node);
    isOpen.add(node);
    const successors = successorsOf(node)[Symbol.iterator]();
    visits.push({ node, successors, isOwnSuccessor: false });
  };
  const lower = (node: T, value: number): void => {
    low.set(node, Math.min(must(low.get(node), "an entered node has a low link"), value));
  };
  const leave = ({ node, isOwnSuccessor }: GraphVisit<T>): void => {
    visits.pop();
    const lowest = must(low.get(node), "an entered node has a low link");
    const parent = visits.at(-1);
    if (parent !== undefined) lower(parent.node, lowest);
    if (lowest !== index.get(node)) return;
    const members = open.splice(open.lastIndexOf(node));
    for (const member of members) isOpen.delete(member);
    components.push({ members, isCyclic: members.length > 1 || isOwnSuccessor });
  };

  for (const root of roots) {
    if (!index.has(root)) enter(root);
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      if (pace.step()) yield;
      const { done, value } = visit.successors.next();
      if (done === true) {
        leave(visit);
        continue;
      }
      if (value === visit.node) visit.isOwnSuccessor = true;
      const seen = index.get(value);
      if (seen === undefined) enter(value);
      else if (isOpen.has(value)) lower(visit.node, seen);
    }
  }
  return components;
}
