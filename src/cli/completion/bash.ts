import { quoted } from "../shell-word.ts";
import { type CompletedPlace, contextNames, pathText } from "./completed-place.ts";

/** The script for bash. What is no command or flag is completed as the name of a file. */
export function bashScript(places: readonly CompletedPlace[]): string {
  const paths = places.filter(({ path }) => path.length > 0).map(({ path }) => pathText(path));
  const cases = places.map(({ path, words, flags, takesContext }) => {
    const valued = flags.filter(({ takesValue }) => takesValue);
    return [
      `    ${quoted(pathText(path))})`,
      takesContext
        ? '      compopt +o default 2>/dev/null; words="$(_pemba_contexts)"'
        : `      words=${quoted([...words.keys()].join(" "))}`,
      `      flags=${quoted(flags.map(({ name }) => `--${name}`).join(" "))}`,
      `      valued=${quoted(` ${valued.map(({ name }) => `--${name}`).join(" ")} `)} ;;`,
    ].join("\n");
  });
  return `_pemba_contexts() {
  sed -n ${quoted(contextNames)} "\${XDG_CONFIG_HOME:-$HOME/.config}/pemba/contexts.json" 2>/dev/null
}
_pemba() {
  local at="" words="" flags="" valued="" index
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$at \${COMP_WORDS[index]}" in
      ${paths.map(quoted).join("|")}) at="$at \${COMP_WORDS[index]}" ;;
    esac
  done
  case "$at" in
${cases.join("\n")}
  esac
  [[ "$valued" == *" $previous "* ]] && return
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ "$previous" == "\${at##* }" || -z "$at" ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -o default -F _pemba pemba`;
}
