import { UsageError } from "../base/errors.ts";
import { nearest, quoted } from "../base/text.ts";

/** A line of switchman, read. */
export interface SwitchmanCall {
  /** Help or the version was asked for: nothing else of the line counts. */
  asks: "help" | "version" | undefined;
  config: string | undefined;
  /** Added to switchman's own options: addresses of etcd. */
  endpoints: string | undefined;
  /** The task's name, which is the lock's where there is one. */
  name: string;
  lock: string | undefined;
  group: string | undefined;
  /** As in `--lease`: RESOURCE=COUNT:TOTAL. */
  leases: readonly string[];
  command: readonly string[];
}

type OptionName =
  | "config"
  | "endpoints"
  | "group"
  | "help"
  | "lease"
  | "lock"
  | "lockname"
  | "nolock"
  | "version";

/** What may be typed, and what it is called. */
const SPELLINGS: Readonly<Record<string, OptionName>> = {
  ...{
    c: "config",
    config: "config",
    endpoints: "endpoints",
    g: "group",
    group: "group",
    h: "help",
    help: "help",
  },
  ...{ lease: "lease", lock: "lock", nolock: "nolock", "no-lock": "nolock", lockname: "lockname" },
  ...{ v: "version", version: "version" },
};
const WITH_VALUE: readonly OptionName[] = ["config", "endpoints", "group", "lease", "lockname"];

/** Longest name of a lock, in bytes. */
const LONGEST_NAME = 512;

/**
 * The words of a `switchman` line, as its option parser (Perl's Getopt::Long) takes them: names may be cut short, know no
 * case, begin with one dash, two, or a plus; options may stand behind arguments up to `--`.
 * @throws UsageError where switchman would refuse them
 */
export function parseSwitchman(words: readonly string[]): SwitchmanCall {
  const given = new Given();
  given.read(words);
  const base = {
    ...{ asks: given.asks, config: given.text("config"), endpoints: given.text("endpoints") },
    ...{ group: given.text("group"), leases: [...given.leases.values()], command: given.rest },
  };
  if (base.asks !== undefined) return { ...base, name: "", lock: undefined };
  const [file = ""] = given.rest;
  if (file === "") throw new UsageError("switchman: no command is given");
  const name = given.text("lockname") ?? baseName(file);
  checkName(name);
  return { ...base, name, lock: given.takesLock ? name : undefined };
}

/** Units of a resource that is only there to be held: more than there will ever be runs. */
const PLENTY = 1_000_000;

/** Without lock and lease only the group counts: our runs hold something all the same, of which there is plenty. */
export function leasesToHold({ lock, name, leases }: SwitchmanCall): readonly string[] {
  if (lock !== undefined || leases.length > 0) return leases;
  // A "=" would end the resource's name, and a name has 512 bytes at most.
  return [`no-lock:${Array.from(name.replaceAll("=", "-")).slice(0, 100).join("")}=1:${PLENTY}`];
}

class Given {
  readonly leases = new Map<string, string>();
  readonly rest: string[] = [];
  takesLock = true;
  asks: SwitchmanCall["asks"];
  readonly #texts = new Map<OptionName, string>();

  read(words: readonly string[]): void {
    const left = [...words];
    for (let word = left.shift(); word !== undefined && this.asks === undefined; word = left.shift()) {
      if (word === "--") {
        this.rest.push(...left);
        return;
      }
      const [, typed] = /^(?:--|[-+])(.*)$/s.exec(word) ?? [];
      if (typed === undefined || word === "-") this.rest.push(word);
      else this.#option(typed, left);
    }
  }

  /** Perl takes an empty text, and "0", for no text at all. */
  text(name: OptionName): string | undefined {
    const value = this.#texts.get(name);
    return value === "" || value === "0" ? undefined : value;
  }

  #option(typed: string, left: string[]): void {
    const [, spelled = "", inline] = /^([^=]+)(?:=(.*))?$/s.exec(typed) ?? [];
    const name = optionNamed(spelled, typed);
    if (WITH_VALUE.includes(name)) {
      const value = inline ?? left.shift();
      // `--group=` is refused where `--group ""` is not.
      if (value === undefined || inline === "") throw refused(`--${name} needs a value, none is given`);
      if (name === "lease") this.#lease(value);
      else this.#texts.set(name, value);
    } else if (inline !== undefined) throw refused(`--${name} takes no value, ${quoted(inline)} is given`);
    else if (name === "help" || name === "version") this.asks = name;
    else this.takesLock = name === "lock";
  }

  /** A resource that is named twice has the last amount. */
  #lease(value: string): void {
    const [, resource] = /^([^=]+)=[^:]+:./s.exec(value) ?? [];
    if (resource === undefined) throw refused(`--lease ${quoted(value)} is not RESOURCE=COUNT:TOTAL`);
    this.leases.set(resource, value);
  }
}

function optionNamed(spelled: string, typed: string): OptionName {
  const word = spelled.toLowerCase();
  const exact = Object.hasOwn(SPELLINGS, word) ? SPELLINGS[word] : undefined;
  if (exact !== undefined) return exact;
  const spellings = Object.keys(SPELLINGS);
  const meant = word === "" ? [] : spellings.filter((one) => one.startsWith(word));
  const [only, ...others] = new Set(meant.map((one) => SPELLINGS[one]));
  if (only !== undefined && others.length === 0) return only;
  const shown = `${quoted(`--${spelled || typed}`)} is none of its options`;
  if (only !== undefined)
    throw refused(`${shown}, but the beginning of ${meant.map((one) => `--${one}`).join(", ")}`);
  const hint = nearest(
    word,
    spellings.filter((one) => one.length > 1),
  );
  throw refused(hint === undefined ? shown : `${shown}; did you mean --${hint}?`);
}

function checkName(name: string): void {
  if (name.includes("/")) throw refused(`a lock's name cannot hold "/": ${quoted(name)}`);
  const bytes = new TextEncoder().encode(name).length;
  if (bytes > LONGEST_NAME)
    throw refused(`the lock's name is too long: ${bytes} bytes, ${LONGEST_NAME} are allowed`);
}

function refused(what: string): UsageError {
  return new UsageError(`switchman: ${what}`);
}

/** The last part of a path, whatever slashes end it; of the root, the root. */
function baseName(path: string): string {
  const trimmed = path.replace(/(?<=[^/])\/+$/, "");
  return /^\/+$/.test(trimmed) ? "/" : trimmed.slice(trimmed.lastIndexOf("/") + 1);
}
