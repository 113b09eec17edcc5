import { hash } from "node:crypto";

/** How keys are spread over members. */
export interface RingShape {
  /** Keys fall into so many partitions, each of which has an owner. */
  readonly partitions: number;
  /** Points of each member on the ring. */
  readonly points: number;
  /** Most partitions of a member, as a multiple of what each would have if all had as many. */
  readonly load: number;
}

/**
 * Consistent hashing with bounded loads (Mirrokni, Thorup, Zadimoghaddam, 2016): the owner of a
 * partition is the first member on the ring, from the partition's place on, that has room for it. All
 * who know the same members have the same ring, and one member more or less moves few partitions.
 */
export class Ring {
  readonly #points: readonly Point[];
  readonly #owners: readonly number[];
  readonly #members: number;

  constructor(members: Iterable<string>, shape: RingShape) {
    const names = [...new Set(members)].toSorted();
    this.#members = names.length;
    this.#points = pointsOf(names, shape.points);
    this.#owners = ownersOf(this.#points, names.length, shape);
  }

  /** Up to `count` members for a key, the owner of its partition first; none of an empty ring. */
  membersFor(key: string, count: number): readonly string[] {
    if (this.#owners.length === 0) return [];
    const owner = this.#owners[placeOf(key) % this.#owners.length] ?? 0;
    const found = new Set<string>();
    for (let step = 0; found.size < Math.min(count, this.#members); step += 1) {
      const point = this.#points[(owner + step) % this.#points.length];
      if (point !== undefined) found.add(point.member);
    }
    return [...found];
  }
}

interface Point {
  readonly place: number;
  readonly member: string;
}

function pointsOf(members: readonly string[], count: number): readonly Point[] {
  return members
    .flatMap((member) =>
      Array.from({ length: count }, (_, nth) => ({ place: placeOf(`${member} ${nth}`), member })),
    )
    .toSorted((a, b) => a.place - b.place);
}

/** The position among the points of the owner of each partition. */
function ownersOf(
  points: readonly Point[],
  members: number,
  { partitions, load }: RingShape,
): readonly number[] {
  if (members === 0) return [];
  const room = Math.ceil((partitions / members) * load);
  const taken = new Map<string, number>();
  return Array.from({ length: partitions }, (_, partition) => {
    let position = positionFrom(points, placeOf(String(partition)));
    // There is room for all: each member takes its share and more.
    for (;;) {
      const { member } = points[position] ?? { member: "" };
      const already = taken.get(member) ?? 0;
      if (already < room) {
        taken.set(member, already + 1);
        return position;
      }
      position = (position + 1) % points.length;
    }
  });
}

/** The position of the first point from a place on, around the ring. */
function positionFrom(points: readonly Point[], place: number): number {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const point = points[middle];
    if (point !== undefined && point.place < place) low = middle + 1;
    else high = middle;
  }
  return low % points.length;
}

/** 48 bits, which a number holds exactly. */
function placeOf(text: string): number {
  return hash("sha1", text, "buffer").readUIntBE(0, 6);
}
