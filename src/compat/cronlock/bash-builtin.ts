/**
 * Builtins of bash for which there is no program, or which a program cannot replace. cronlock is a script of bash and
 * runs its words as a command of its own, so that lines such as `cronlock eval "a && b"` and `cronlock . ./job` work.
 */
const BUILTINS =
  /^(?:[.:]|alias|bind|builtin|cd|command|declare|dirs|eval|exec|exit|export|hash|help|let|popd|pushd|read|readonly|return|set|shopt|source|times|trap|type|typeset|ulimit|umask|unalias|unset|wait)$/;

/** Returns the command that bash runs for words that begin with a builtin; other words unchanged. */
export function wrapBuiltin(words: readonly string[]): readonly string[] {
  return BUILTINS.test(words[0] ?? "") ? ["bash", "-c", '"$@"', "bash", ...words] : words;
}
