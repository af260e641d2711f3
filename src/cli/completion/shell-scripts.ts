/**
 * The script by which a shell completes `rollcall`: it hands the words up to the cursor to `rollcall __complete`,
 * and shows the answer.
 *
 * The answer is a candidate a line, or `:files`, where the shell completes names of files by itself.
 */

const BASH = `# completion of rollcall; in ~/.bashrc: eval "$(rollcall completion bash)"
_rollcall() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = ":files" ]; then
      compopt -o default 2>/dev/null
    else
      COMPREPLY+=("$line")
    fi
  done < <(rollcall __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _rollcall rollcall`;

const ZSH = `#compdef rollcall
# completion of rollcall; in ~/.zshrc, after compinit: eval "$(rollcall completion zsh)"
_rollcall() {
  local -a found
  found=(\${(f)"$(rollcall __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if [[ "$found" == ":files" ]]; then
    _files
  else
    compadd -a found
  fi
}
compdef _rollcall rollcall`;

const FISH = `# completion of rollcall; in ~/.config/fish/config.fish: rollcall completion fish | source
function __rollcall_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  test -z "$current"; and set current ''
  set -l found (rollcall __complete -- $words[2..-1] $current 2>/dev/null)
  if test "$found" = ":files"
    __fish_complete_path "$current"
  else
    string join \\n -- $found
  end
end
complete -c rollcall -f -a '(__rollcall_complete)'`;

const KUBECTL = `#!/bin/sh
# completion of kubectl rollcall; as kubectl_complete-rollcall on the PATH, where kubectl's own completion asks it
rollcall __complete -- "$@" 2>/dev/null | grep -v '^:files$'
echo :4`;

/** The scripts, by shell; kubectl asks a program on the PATH. */
export const SHELL_SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH, kubectl: KUBECTL } as const;
