/**
 * What shells source. Thin on purpose: they hand over the words up to the cursor, and get a candidate a line. A line that
 * begins with a colon is no candidate but a hint: `:files` and `:commands` ask for the shell's own.
 */
const BASH = `# bash completion for signalbox
_signalbox() {
  local line=\${COMP_LINE:0:COMP_POINT} candidate current
  local -a typed
  # The shell's own words end at colons and equals signs, which names and flags may hold.
  read -r -a typed <<< "$line"
  [[ $line == *[[:space:]] ]] && typed+=("")
  current=\${typed[\${#typed[@]} - 1]}
  COMPREPLY=()
  while IFS= read -r candidate; do
    case $candidate in
      :files) compopt -o default; return ;;
      :commands) mapfile -t COMPREPLY < <(compgen -c -- "$current"); compopt -o default; return ;;
      *=) compopt -o nospace; COMPREPLY+=("$candidate") ;;
      *) COMPREPLY+=("$(printf %q "$candidate")") ;;
    esac
  done < <("\${typed[0]}" __complete -- "\${typed[@]:1}" 2>/dev/null)
  # What stands before the last colon or equals sign is on the line already.
  if [[ $current == *[:=]* ]]; then
    local known=\${current%"\${current##*[:=]}"}
    COMPREPLY=("\${COMPREPLY[@]#"$known"}")
  fi
}
complete -F _signalbox signalbox
`;

const ZSH = `#compdef signalbox
# zsh completion for signalbox
_signalbox() {
  local -a candidates
  candidates=("\${(@f)$("\${words[1]}" __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  case \${candidates[1]} in
    :files) _files ;;
    :commands) _command_names -e || _files ;;
    '') return 1 ;;
    *) compadd -- "\${candidates[@]}" ;;
  esac
}
if [ "$funcstack[1]" = _signalbox ]; then _signalbox "$@"; else compdef _signalbox signalbox; fi
`;

const FISH = `# fish completion for signalbox
function __signalbox_complete
  set -l typed (commandline -opc)
  set -l current (commandline -ct)
  set -l candidates ($typed[1] __complete -- $typed[2..] "$current" 2>/dev/null)
  switch "$candidates[1]"
    case ':files'
      __fish_complete_path "$current"
    case ':commands'
      __fish_complete_command
    case '*'
      string join \\n -- $candidates
  end
end
complete -c signalbox -f -a '(__signalbox_complete)'
`;

export const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
