import type { ShellCommand } from "../../syntax/shell-parser.ts";
import type { Markers } from "./markers.ts";
import { UntranslatableError } from "./migration.ts";
import { OWN_VARIABLES } from "./tools.ts";

const ASSIGNMENT = /^[A-Za-z_]\w*=/;
const PRIVATE = ", which is not exported";
/** Matches programs that may start a tool with a different environment. */
const APART = /(?:^|\/)(?:sudo|doas|env)$/;
/** Builtins after which the value of a variable is unknown. */
const CHANGING = /^(?:unset|read|readonly|declare|typeset|local)$/;

/** Lists variables that the line itself changes, so that their values in the crontab do not apply. */
export function findChangedVariables(commands: readonly ShellCommand[]): ReadonlySet<string> {
  const names = commands.flatMap(({ words }) => {
    const [first = "", ...rest] = words;
    if (first === "for") return rest.slice(0, 1);
    if (first === "export" || CHANGING.test(first)) return rest.map(getVariableName);
    return words.every((word) => ASSIGNMENT.test(word)) ? words.map(getVariableName) : [];
  });
  return new Set(names);
}

function getVariableName(word: string): string {
  return word.replace(/=.*/s, "");
}

/** Collects how the commands before a tool change its variables, as far as the values cannot be known. */
export class PrecedingCommands {
  readonly #exported: Set<string>;
  readonly #sources: string[] = [];
  /** By variable: the command that changed it. */
  readonly #changes = new Map<string, string>();

  /** @param variables  variables of the crontab, which every command receives */
  constructor(variables: ReadonlyMap<string, string>) {
    this.#exported = new Set(variables.keys());
  }

  add({ words }: ShellCommand): void {
    const [first = "", ...rest] = words;
    const folder = words.findIndex((word) => /(?:^|\/)(?:envdir|chpst)$/.test(word));
    if (folder >= 0) this.#sources.push(words.slice(folder, folder + 2).join(" "));
    if (first === "." || first === "source" || first === "eval")
      this.#sources.push(`${first} ${rest.join(" ")}`);
    else if (first === "export") for (const word of rest) this.#applyExport(word);
    else if (CHANGING.test(first))
      for (const word of rest) this.#changes.set(getVariableName(word), `${first} ${word}`);
    else if (words.every((word) => ASSIGNMENT.test(word)))
      for (const word of words) this.#applyAssignment(word);
  }

  /** @returns notes about the next tool @throws UntranslatableError if its variables are not known */
  buildNotes(tool: string, markers: Markers): string[] {
    const own = OWN_VARIABLES[tool];
    if (own === undefined) return [];
    const [, change] = [...this.#changes].find(([name]) => own.test(name)) ?? [];
    if (change !== undefined)
      throw new UntranslatableError(
        `what ${tool} gets is not known after ${markers.restoreSource(change)}; write the variable before ${tool}`,
      );
    return this.#sources.map(
      (source) =>
        `what ${markers.restoreSource(source)} sets is not known here: check that it sets nothing of ${tool}`,
    );
  }

  #applyExport(word: string): void {
    const name = getVariableName(word);
    this.#exported.add(name);
    if (word.includes("=") || this.#changes.get(name)?.endsWith(PRIVATE) === true) this.#changes.delete(name);
  }

  /** Records an assignment. A shell does not pass on variables that are not exported. */
  #applyAssignment(word: string): void {
    const name = getVariableName(word);
    if (!this.#exported.has(name)) this.#changes.set(name, `${word}${PRIVATE}`);
  }
}

/**
 * Checks that the tool receives its variables from a program that may replace the environment.
 * @param variables  variables set before that program
 * @throws UntranslatableError if variables of the tool are among them and are not set again after that program
 */
export function checkVariablesReach(
  tool: string,
  words: readonly string[],
  variables: ReadonlyMap<string, string>,
): void {
  const own = OWN_VARIABLES[tool];
  const at = words.findIndex((word) => APART.test(word));
  const listAssigned = (some: readonly string[]) =>
    some.filter((word) => ASSIGNMENT.test(word)).map(getVariableName);
  const [outside, inside] = [listAssigned(words.slice(0, at)), listAssigned(words.slice(at + 1))];
  const kept = [...variables.keys(), ...outside].find((name) => own?.test(name) && !inside.includes(name));
  if (kept === undefined) return;
  const wrapper = words[at] ?? "";
  throw new UntranslatableError(
    `${wrapper} may keep ${kept} from ${tool}; write it after the wrapper: ${wrapper} ${kept}=... ${tool}`,
  );
}
