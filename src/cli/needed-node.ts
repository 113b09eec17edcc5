/** The oldest version that `engines` in package.json admits. */
const oldest = { major: 24, minor: 12 };

/**
 * Says what is wrong with a version of Node, such as `20.1.0`. Undefined if Pemba runs on it. An older
 * Node loads this file, so the file imports nothing and its code is plain.
 */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > oldest.major || (major === oldest.major && minor >= oldest.minor);
  if (isEnough) return undefined;
  const needed = `needs Node ${oldest.major}.${oldest.minor} or newer, and this is Node ${version}`;
  return `${needed}: \`npm install --save-dev node@${oldest.major}\` brings one into a project, and \`npm ci\` into a clone`;
}
