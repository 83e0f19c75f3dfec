import type { ShellCommand } from "../../fleet/shell-words.ts";
import type { Markers } from "./markers.ts";
import { Refusal } from "./refusal.ts";
import { OWN_VARIABLES } from "./tools.ts";

const ASSIGNMENT = /^[A-Za-z_]\w*=/;
const PRIVATE = ", which is not exported";
/** What may start a tool with an environment of its own. */
const APART = /(?:^|\/)(?:sudo|doas|env)$/;
/** Builtins after which a variable is nobody knows what. */
const CHANGING = /^(?:unset|read|readonly|declare|typeset|local)$/;

/** Variables that a line itself gives other values, so that those of the crontab say nothing of them. */
export function changedNames(commands: readonly ShellCommand[]): ReadonlySet<string> {
  const names = commands.flatMap(({ words }) => {
    const [first = "", ...rest] = words;
    if (first === "for") return rest.slice(0, 1);
    if (first === "export" || CHANGING.test(first)) return rest.map(nameOf);
    return words.every((word) => ASSIGNMENT.test(word)) ? words.map(nameOf) : [];
  });
  return new Set(names);
}

function nameOf(word: string): string {
  return word.replace(/=.*/s, "");
}

/** What the commands before a tool do to the variables that it reads, as far as that cannot be known here. */
export class Earlier {
  readonly #exported: Set<string>;
  readonly #sources: string[] = [];
  /** By variable: what was done to it. */
  readonly #changes = new Map<string, string>();

  /** @param variables  what the crontab sets, all of which a command gets */
  constructor(variables: ReadonlyMap<string, string>) {
    this.#exported = new Set(variables.keys());
  }

  see({ words }: ShellCommand): void {
    const [first = "", ...rest] = words;
    const folder = words.findIndex((word) => /(?:^|\/)(?:envdir|chpst)$/.test(word));
    if (folder >= 0) this.#sources.push(words.slice(folder, folder + 2).join(" "));
    if (first === "." || first === "source" || first === "eval")
      this.#sources.push(`${first} ${rest.join(" ")}`);
    else if (first === "export") for (const word of rest) this.#export(word);
    else if (CHANGING.test(first))
      for (const word of rest) this.#changes.set(nameOf(word), `${first} ${word}`);
    else if (words.every((word) => ASSIGNMENT.test(word))) for (const word of words) this.#assign(word);
  }

  /** @returns what is to be said of a tool that comes next. @throws Refusal where its variables are not known */
  notesFor(tool: string, markers: Markers): string[] {
    const own = OWN_VARIABLES[tool];
    if (own === undefined) return [];
    const [, change] = [...this.#changes].find(([name]) => own.test(name)) ?? [];
    if (change !== undefined)
      throw new Refusal(
        `what ${tool} gets is not known behind ${markers.written(change)}; write the variable before ${tool}`,
      );
    return this.#sources.map(
      (source) =>
        `what ${markers.written(source)} sets is not known here: see that it is nothing of ${tool}'s`,
    );
  }

  #export(word: string): void {
    const name = nameOf(word);
    this.#exported.add(name);
    if (word.includes("=") || this.#changes.get(name)?.endsWith(PRIVATE) === true) this.#changes.delete(name);
  }

  /** A shell keeps to itself what it does not export. */
  #assign(word: string): void {
    const name = nameOf(word);
    if (!this.#exported.has(name)) this.#changes.set(name, `${word}${PRIVATE}`);
  }
}

/**
 * A program that gives the tool an environment of its own may keep the tool's variables from it.
 * @param variables  what is set outside
 * @throws Refusal where the tool's own are among them, and none behind that program
 */
export function checkReach(
  tool: string,
  words: readonly string[],
  variables: ReadonlyMap<string, string>,
): void {
  const own = OWN_VARIABLES[tool];
  const at = words.findIndex((word) => APART.test(word));
  const inside = words
    .slice(at + 1)
    .filter((word) => ASSIGNMENT.test(word))
    .map(nameOf);
  const outside = words
    .slice(0, at)
    .filter((word) => ASSIGNMENT.test(word))
    .map(nameOf);
  const kept = [...variables.keys(), ...outside].find((name) => own?.test(name) && !inside.includes(name));
  if (kept === undefined) return;
  const wrapper = words[at] ?? "";
  throw new Refusal(
    `${wrapper} may keep ${kept} from ${tool}; write it behind: ${wrapper} ${kept}=... ${tool}`,
  );
}
