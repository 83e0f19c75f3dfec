import { EXIT } from "../../../core/base/errors.ts";
import type { CommandExecutor } from "../command.ts";

export const execute: CommandExecutor = async ({ args: [shell = ""] }, io) => {
  io.writeOutput(SCRIPTS[shell] ?? "");
  return EXIT.ok;
};

/**
 * The scripts that shells source. They only pass the line up to the cursor, and receive the kind of answer in the first
 * line (see `complete`) and then one candidate per line. They run the program that the line names, or `signalbox` if
 * that is an alias. Neither the line nor the answer is evaluated.
 */
const BASH = `# bash completion for signalbox
_signalbox() {
  local program offer at
  program=$(type -P -- "\${1/#~\\//$HOME/}") || program=signalbox
  mapfile -t offer < <("$program" __complete bash "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
  COMPREPLY=()
  case \${offer[0]} in
    :files) compopt -o bashdefault -o default ;;
    :command)
      for ((at = 1; at < COMP_CWORD; at++)); do [[ \${COMP_WORDS[at]} == -- ]] && break; done
      if declare -F _comp_command_offset >/dev/null; then _comp_command_offset $((at + 1))
      elif declare -F _command_offset >/dev/null; then _command_offset $((at + 1))
      elif ((COMP_CWORD == at + 1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "\${COMP_WORDS[COMP_CWORD]}")
        compopt -o bashdefault -o default
      else compopt -o bashdefault -o default
      fi ;;
    :open) compopt -o nospace; COMPREPLY=("\${offer[@]:1}") ;;
    *) COMPREPLY=("\${offer[@]:1}") ;;
  esac
}
complete -F _signalbox signalbox
`;

const ZSH = `#compdef signalbox
# zsh completion for signalbox
_signalbox() {
  local program=\${words[1]/#\\~\\//$HOME/} at
  local -a before offer
  whence -p -- $program >/dev/null || program=signalbox
  before=("\${(@Q)words[2,CURRENT - 1]}")
  (( CURRENT > 2 )) || before=()
  offer=("\${(@f)$($program __complete -- "\${(@)before}" "\${(Q)PREFIX}" 2>/dev/null)}")
  case $offer[1] in
    :files)
      [[ $PREFIX == --*=* ]] && compset -P '*='
      _files ;;
    :command)
      at=\${words[(i)--]}
      shift $at words
      (( CURRENT -= at ))
      _normal ;;
    :open) compadd -S '' -- "\${(@)offer[2,-1]}" ;;
    :words) (( $#offer > 1 )) && compadd -- "\${(@)offer[2,-1]}" ;;
    *) return 1 ;;
  esac
}
if [ "$funcstack[1]" = _signalbox ]; then _signalbox "$@"; else compdef _signalbox signalbox; fi
`;

const FISH = `# fish completion for signalbox
function __signalbox_complete
  set -l typed (commandline -opc)
  set -l current (commandline -ct)
  set -l plain (string unescape -- "$current"; or string trim -l -c '"\\'' -- "$current")
  set -l program (string replace -r '^~/' "$HOME/" -- $typed[1])
  type -q -- $program; or set program signalbox
  set -l offer (command $program __complete -- $typed[2..] "$plain" 2>/dev/null)
  switch "$offer[1]"
    case ':files'
      set -l flag (string match -r -- '^--[^=]+=' "$plain")
      for file in (__fish_complete_path (string replace -- "$flag" '' "$plain"))
        echo -- "$flag$file"
      end
    case ':command'
      set -l at (contains -i -- -- $typed)
      complete -C (string join ' ' -- (string escape -- $typed[(math $at + 1)..]) "$current")
    case '*'
      string join \\n -- $offer[2..]
  end
end
complete -c signalbox -f -a '(__signalbox_complete)'
`;

export const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
