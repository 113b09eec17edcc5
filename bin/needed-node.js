import { readFileSync } from "node:fs";

// Plain JavaScript, because a Node that cannot run the sources has to run it. Among those that can, the
// sources find the ones that are too old by themselves.
if (!process.features.typescript) {
  const manifest = new URL("../package.json", import.meta.url);
  const { engines } = JSON.parse(readFileSync(manifest, "utf8"));
  const needed = engines.node.replace(">=", "");
  const [major] = needed.split(".");
  process.stderr.write(
    `pemba: needs Node ${needed} or newer, and this is Node ${process.versions.node}: ` +
      `\`npm install --save-dev node@${major}\` brings one into a project, and \`npm ci\` into a clone\n`,
  );
  process.exit(1);
}
