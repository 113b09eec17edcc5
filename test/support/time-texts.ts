import fc from "fast-check";

const someTimes = [
  "2024-02-29T12:34:56Z",
  "2023-02-29T00:00:00Z",
  "1900-02-29T00:00:00Z",
  "2000-02-29t23:59:59.999999999z",
  "1969-12-31T23:59:59.999999999Z",
  "1970-01-01T00:00:00Z",
  "0001-01-01T00:00:00Z",
  "0000-12-31T23:30:00-00:30",
  "0000-12-31T23:30:00-00:29",
  "0001-01-01T00:00:00+00:01",
  "9999-12-31T23:59:59.999999999Z",
  "9999-12-31T23:59:59-00:01",
  "2024-12-31T23:59:60Z",
  "2024-04-31T00:00:00Z",
  "2024-13-01T00:00:00Z",
  "2024-01-01T24:00:00Z",
  "2024-01-01T00:00:00+24:00",
  "2024-01-01T00:00:00.1234567890Z",
  "2024-01-01T00:00:00.Z",
  "2024-01-01T00:00:00",
  "2024-01-01T00:00:00Z\n",
  " 2024-01-01T00:00:00Z",
  "1h30m",
  "-1.5h",
  "+.5ms",
  "1.s",
  "0",
  "-0",
  "+0",
  "00",
  "0s",
  "10",
  "h",
  ".s",
  "1h-1m",
  "1µs",
  "1μs",
  "1us1ns",
  "1S",
  "9223372036854775807ns",
  "-9223372036854775807ns",
  "-9223372036854775808ns",
  "2562047h47m16.854775807s",
  "2562047h47m16.854775808s",
  "100000000000000000000ns",
  "00000000000000000000000000000000001h",
  `0.${"0002" + "7".repeat(40)}h`,
  `0.${"0002" + "7".repeat(40)}8h`,
  `-0.0${"16".padEnd(60, "6")}7m`,
  "0.000000000999999999999999999999999999s",
];
const digits = (least: number, greatest: number, size: number): fc.Arbitrary<string> =>
  fc.integer({ min: least, max: greatest }).map((value) => String(value).padStart(size, "0"));

/** Texts in the form of a timestamp; some are none, for a part that is out of its range. */
export const timestampText: fc.Arbitrary<string> = fc
  .record({
    year: fc.oneof(digits(1600, 2400, 4), digits(0, 9999, 4)),
    month: digits(1, 12, 2),
    day: fc.oneof({ weight: 9, arbitrary: digits(1, 28, 2) }, digits(28, 32, 2)),
    separator: fc.oneof({ weight: 19, arbitrary: fc.constantFrom("T", "t") }, fc.constant(" ")),
    hour: fc.oneof({ weight: 19, arbitrary: digits(0, 23, 2) }, digits(23, 24, 2)),
    minute: fc.oneof({ weight: 19, arbitrary: digits(0, 59, 2) }, digits(59, 60, 2)),
    second: fc.oneof({ weight: 19, arbitrary: digits(0, 59, 2) }, digits(59, 60, 2)),
    fraction: fc.oneof(fc.constant(""), fc.stringMatching(/^\.[0-9]{1,9}$/)),
    zone: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom("Z", "z", "+00:00", "-23:59") },
      fc.constantFrom("+24:00", "+0100", ""),
      {
        weight: 8,
        arbitrary: fc
          .tuple(fc.constantFrom("+", "-"), digits(0, 23, 2), digits(0, 59, 2))
          .map(([sign, hours, minutes]) => `${sign}${hours}:${minutes}`),
      },
    ),
  })
  .map(
    ({ year, month, day, separator, hour, minute, second, fraction, zone }) =>
      `${year}-${month}-${day}${separator}${hour}:${minute}:${second}${fraction}${zone}`,
  );

/** Texts in the form of a duration, some of them out of range or without a number. */
export const durationText: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("", "", "-", "+"),
    fc.array(
      fc
        .tuple(
          fc.stringMatching(/^(?:[0-9]{1,7}|[0-9]{1,5}|[0-9]{0,3}\.[0-9]{1,24})$/),
          fc.constantFrom("h", "m", "s", "ms", "us", "µs", "ns"),
        )
        .map((parts) => parts.join("")),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([sign, parts]) => sign + parts.join(""));

/** The same, and what lies at the edges of the forms and of the ranges. */
export const timeText: fc.Arbitrary<string> = fc.oneof(
  timestampText,
  durationText,
  fc.constantFrom(...someTimes),
);
