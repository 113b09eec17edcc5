import fc from "fast-check";

/** The code points from here on are halves of others, which no text in UTF-8 has. */
const firstSurrogate = 0xd800;
const surrogates = 0x800;

const codePoint = fc
  .nat({ max: 0x10ffff - surrogates })
  .map((nth) => (nth < firstSurrogate ? nth : nth + surrogates));

/**
 * Texts of any code points, and those of `fc.string`, some of which are names that JavaScript gives a
 * meaning. `fc.string` with the unit `binary` takes more than a second to prepare.
 */
export function anyText({
  maxLength = 10,
}: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.oneof(
    fc.array(codePoint, { maxLength }).map((points) => String.fromCodePoint(...points)),
    fc.string({ maxLength }),
  );
}
