import { quoted } from "../shell-word.ts";
import { type CompletedPlace, contextNames, pathText } from "./completed-place.ts";

/** The script for fish. What is no command or flag is completed as the name of a file. */
export function fishScript(places: readonly CompletedPlace[]): string {
  const paths = places.filter(({ path }) => path.length > 0).map(({ path }) => pathText(path));
  const lines = places.flatMap(({ path, words, flags, takesContext }) => {
    const at = pathText(path);
    const contexts = `complete -c pemba -n ${quoted(`__pemba_begins '${at}'`)} -f -a '(__pemba_contexts)'`;
    return [
      ...(takesContext ? [contexts] : []),
      ...[...words].map(
        ([word, about]) =>
          `complete -c pemba -n ${quoted(`__pemba_begins '${at}'`)} -f -a ${quoted(word)} -d ${quoted(about)}`,
      ),
      ...flags.map(
        ({ name, takesValue }) =>
          `complete -c pemba -n ${quoted(`__pemba_at '${at}'`)} -l ${name}${takesValue ? " -r" : ""}`,
      ),
    ];
  });
  return `function __pemba_path
  set -l at ""
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${paths.map(quoted).join(" ")}
        set at "$at $word"
    end
  end
  echo "$at"
end
function __pemba_at
  set -l at (__pemba_path)
  test "$at" = "$argv[1]"
end
function __pemba_contexts
  set -l folder $HOME/.config
  test -n "$XDG_CONFIG_HOME"; and set folder $XDG_CONFIG_HOME
  sed -n ${quoted(contextNames)} "$folder/pemba/contexts.json" 2>/dev/null
end
# Nothing stands behind the words of the command yet.
function __pemba_begins
  set -l words (commandline -opc)[2..-1]
  test " $words" = "$argv[1]"; or test -z "$words" -a -z "$argv[1]"
end
${lines.join("\n")}`;
}
