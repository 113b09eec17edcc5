import { quoted } from "../shell-word.ts";
import { type CompletedPlace, contextNames, pathText } from "./completed-place.ts";

/** The script for zsh. What is no command or flag is completed as the name of a file. */
export function zshScript(places: readonly CompletedPlace[]): string {
  const paths = places.filter(({ path }) => path.length > 0).map(({ path }) => pathText(path));
  const cases = places.map(({ path, words, flags, takesContext }) => {
    const described = [...words].map(([word, about]) =>
      quoted(about === "" ? word : `${word}:${about}`),
    );
    const valued = flags.filter(({ takesValue }) => takesValue);
    return [
      `    ${quoted(pathText(path))})`,
      takesContext
        ? `      items=(\${(f)"$(_pemba_contexts)"}) isContext=1`
        : `      items=(${described.join(" ")})`,
      `      flags=(${flags.map(({ name }) => `--${name}`).join(" ")})`,
      `      valued=(${valued.map(({ name }) => `--${name}`).join(" ")}) ;;`,
    ].join("\n");
  });
  return `#compdef pemba
_pemba_contexts() {
  sed -n ${quoted(contextNames)} "\${XDG_CONFIG_HOME:-$HOME/.config}/pemba/contexts.json" 2>/dev/null
}
_pemba() {
  local at="" index isContext=0
  local -a items flags valued
  for ((index = 2; index < CURRENT; index++)); do
    case "$at $words[index]" in
      (${paths.map(quoted).join("|")}) at="$at $words[index]" ;;
    esac
  done
  case "$at" in
${cases.join("\n")}
  esac
  if (( \${valued[(Ie)\${words[CURRENT-1]}]} )); then
    _files
  elif [[ "$PREFIX" == -* ]]; then
    compadd -- $flags
  elif (( $#items || isContext )) && [[ -z "$at" || "\${words[CURRENT-1]}" == "\${at##* }" ]]; then
    _describe 'word' items
  else
    _files
  fi
}
compdef _pemba pemba`;
}
