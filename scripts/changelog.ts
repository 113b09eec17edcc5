/*
 * CHANGELOG.md: a section for each version, the newest first. What comes with the next version stands
 * under `Unreleased`.
 */

const unreleased = "## Unreleased\n";

/** What the next version brings, as Markdown. Empty if there is nothing. */
export function unreleasedNotes(changelog: string): string {
  const start = changelog.indexOf(unreleased);
  if (start === -1) throw new Error("CHANGELOG.md: no section `Unreleased`");
  const [notes = ""] = changelog.slice(start + unreleased.length).split(/^## /m, 1);
  return notes.trim();
}

/** The same changelog with what was unreleased under `version`, which came out on `day`. */
export function withRelease(changelog: string, version: string, day: string): string {
  return changelog.replace(unreleased, () => `${unreleased}\n## ${version} (${day})\n`);
}
