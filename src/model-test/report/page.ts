import type { Coverage } from "../coverage/measure.ts";
import type { MeasuredPart } from "../coverage/part-marks.ts";
import { escapeMarkup } from "./escape.ts";
import { figuresByKind, figuresOf, missingText } from "./test-run.ts";

/** The coverage as one HTML page that needs no other file: the text of each schema, shaded. */
export function coveragePage(coverage: readonly Coverage[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Coverage of model tests</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Coverage of model tests</h1>
<p>A part is covered if an asserted answer would be another one without it.
<mark class="covered">covered</mark> <mark class="partly">half covered</mark>
<mark class="missed">not covered</mark></p>
${coverage.map(schemaSection).join("\n")}
</main>
</body>
</html>
`;
}

function schemaSection({ schema, parts, isPartial }: Coverage, index: number): string {
  const { covered, total, percent } = figuresOf(parts);
  const rows = figuresByKind(parts).map(
    ([kind, one]) =>
      `<tr><th scope="row">${kind}s</th><td>${one.covered}</td><td>${one.total}</td><td>${one.percent} %</td></tr>`,
  );
  const missing = parts.flatMap((part, number) =>
    part.missing.length === 0 ? [] : [missingItem(part, idOf(index, number))],
  );
  const note = isPartial
    ? "<p>An answer depends on too much to follow all of it: more may be covered.</p>\n"
    : "";
  return `<section>
<h2>${escapeMarkup(schema.label)}: ${percent} %</h2>
${note}<table>
<thead><tr><th scope="col">Parts</th><th scope="col">Covered</th><th scope="col">All</th><th scope="col">Share</th></tr></thead>
<tbody>
${rows.join("\n")}
<tr><th scope="row">all</th><td>${covered}</td><td>${total}</td><td>${percent} %</td></tr>
</tbody>
</table>
${missing.length === 0 ? "<p>Everything is covered.</p>" : `<h3>Not covered</h3>\n<ul>\n${missing.join("\n")}\n</ul>`}
<h3>Schema</h3>
${shadedText(schema.text, parts, index)}
</section>`;
}

function idOf(section: number, part: number): string {
  return `s${section}p${part}`;
}

function missingItem(part: MeasuredPart, id: string): string {
  const place = `line ${part.line}, column ${part.column}`;
  return `<li><a href="#${id}">${place}</a>: ${escapeMarkup(missingText(part))}</li>`;
}

/** Parts do not overlap, and are in the order of the text. */
function shadedText(text: string, parts: readonly MeasuredPart[], section: number): string {
  let shaded = "";
  let copied = 0;
  for (const [number, part] of parts.entries()) {
    const written = escapeMarkup(text.slice(part.start, part.end));
    const told = part.missing.length === 0 ? "covered" : missingText(part);
    shaded += escapeMarkup(text.slice(copied, part.start));
    shaded += `<mark id="${idOf(section, number)}" class="${classOf(part)}" title="${escapeMarkup(told)}">${written}</mark>`;
    copied = part.end;
  }
  shaded += escapeMarkup(text.slice(copied));
  const lines = text.split(/\r\n|\r|\n/).map((_line, index) => index + 1);
  return `<div class="schema" role="region" aria-label="Schema" tabindex="0"><pre class="numbers" aria-hidden="true">${lines.join("\n")}</pre><pre><code>${shaded}</code></pre></div>`;
}

function classOf({ missing, isUntouched }: MeasuredPart): string {
  if (missing.length === 0) return "covered";
  return isUntouched ? "missed" : "partly";
}

/** Each shade has a line of its own kind as well, for those who do not see the colours. */
const style = `
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; color: #1b1b1b; background: #ffffff; }
main { max-width: 70rem; margin: 0 auto; padding: 1rem; }
a { color: #0b57d0; }
table { border-collapse: collapse; }
th, td { padding: 0.2rem 0.8rem; border: 1px solid #767676; text-align: right; }
th { text-align: left; }
.schema { display: flex; overflow-x: auto; border: 1px solid #767676; }
pre { margin: 0; padding: 0.5rem; font: 0.9rem/1.5 ui-monospace, monospace; }
.numbers { text-align: right; color: #595959; user-select: none; }
mark { color: inherit; }
.covered { background: #d7f5dc; border-bottom: 1px solid #1a7f37; }
.partly { background: #fff1c2; border-bottom: 2px dashed #8a5a00; }
.missed { background: #ffdcd9; border-bottom: 3px double #b3261e; }
:target { outline: 2px solid #0b57d0; }
@media (prefers-color-scheme: dark) {
  body { color: #e8e8e8; background: #161616; }
  a { color: #a8c7fa; }
  .numbers { color: #b0b0b0; }
  .covered { background: #12351c; border-color: #6fdd8b; }
  .partly { background: #3d3000; border-color: #f2c14e; }
  .missed { background: #4a1512; border-color: #ff8a80; }
  :target { outline-color: #a8c7fa; }
}
`;
