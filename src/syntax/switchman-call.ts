import { UsageError } from "../base/errors.ts";
import { findNearest, quoteText } from "../base/text.ts";

/** A parsed command line of switchman. */
export interface SwitchmanCall {
  /** The user asked for help or the version. The rest of the line is ignored. */
  asks: "help" | "version" | undefined;
  config: string | undefined;
  /** An option that switchman does not have: addresses of etcd. */
  endpoints: string | undefined;
  /** The task's name. If there is a lock, it is also the lock's name. */
  name: string;
  lock: string | undefined;
  group: string | undefined;
  /** In the format of `--lease`: RESOURCE=COUNT:TOTAL. */
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

/** Accepted spellings and the option that each one means. */
const SPELLINGS: Readonly<Record<string, OptionName>> = {
  c: "config",
  config: "config",
  endpoints: "endpoints",
  g: "group",
  group: "group",
  h: "help",
  help: "help",
  lease: "lease",
  lock: "lock",
  nolock: "nolock",
  "no-lock": "nolock",
  lockname: "lockname",
  v: "version",
  version: "version",
};
const WITH_VALUE: readonly OptionName[] = ["config", "endpoints", "group", "lease", "lockname"];

/** Maximum length of a lock name, in bytes. */
const LONGEST_NAME = 512;

/**
 * Parses the words of a `switchman` line like switchman's option parser (Perl's Getopt::Long). Option names can be
 * abbreviated, are case-insensitive, and begin with one dash, two dashes, or a plus. Options can follow arguments, up
 * to `--`.
 * @throws UsageError if switchman would refuse the words
 */
export function parseSwitchman(words: readonly string[]): SwitchmanCall {
  const given = new SwitchmanParser();
  given.parse(words);
  const base = {
    asks: given.asks,
    config: given.getText("config"),
    endpoints: given.getText("endpoints"),
    group: given.getText("group"),
    leases: [...given.leases.values()],
    command: given.rest,
  };
  if (base.asks !== undefined) return { ...base, name: "", lock: undefined };
  const [file = ""] = given.rest;
  if (file === "") throw new UsageError("switchman: no command is given");
  const name = given.getText("lockname") ?? getLastSegment(file);
  checkName(name);
  return { ...base, name, lock: given.takesLock ? name : undefined };
}

/** Total units of the placeholder resource: more than the number of runs can ever be. */
const UNLIMITED_UNITS = 1_000_000;

/**
 * Returns the leases to hold. Without a lock and leases, switchman checks only the group. A signalbox run must hold
 * something, so it gets a lease of a resource that never runs out.
 */
export function listLeasesToHold({ lock, name, leases }: SwitchmanCall): readonly string[] {
  if (lock !== undefined || leases.length > 0) return leases;
  // A "=" would end the resource name, and a name has at most 512 bytes.
  return [`no-lock:${Array.from(name.replaceAll("=", "-")).slice(0, 100).join("")}=1:${UNLIMITED_UNITS}`];
}

class SwitchmanParser {
  readonly leases = new Map<string, string>();
  readonly rest: string[] = [];
  takesLock = true;
  asks: SwitchmanCall["asks"];
  readonly #texts = new Map<OptionName, string>();

  parse(words: readonly string[]): void {
    const left = [...words];
    for (let word = left.shift(); word !== undefined && this.asks === undefined; word = left.shift()) {
      if (word === "--") {
        this.rest.push(...left);
        return;
      }
      const [, typed] = /^(?:--|[-+])(.*)$/s.exec(word) ?? [];
      if (typed === undefined || word === "-") this.rest.push(word);
      else this.#parseOption(typed, left);
    }
  }

  /** Returns the value of an option. Perl treats an empty text and "0" as no value. */
  getText(name: OptionName): string | undefined {
    const value = this.#texts.get(name);
    return value === "" || value === "0" ? undefined : value;
  }

  #parseOption(typed: string, left: string[]): void {
    const [, spelled = "", inline] = /^([^=]+)(?:=(.*))?$/s.exec(typed) ?? [];
    const name = parseOptionName(spelled, typed);
    if (WITH_VALUE.includes(name)) {
      const value = inline ?? left.shift();
      // switchman refuses `--group=` but accepts `--group ""`.
      if (value === undefined || inline === "") throw createSwitchmanError(`--${name} needs a value`);
      if (name === "lease") this.#addLease(value);
      else this.#texts.set(name, value);
    } else if (inline !== undefined)
      throw createSwitchmanError(`--${name} takes no value; got ${quoteText(inline)}`);
    else if (name === "help" || name === "version") this.asks = name;
    else this.takesLock = name === "lock";
  }

  /** Adds a lease. If a resource is named twice, the last count applies. */
  #addLease(value: string): void {
    const [, resource] = /^([^=]+)=[^:]+:./s.exec(value) ?? [];
    if (resource === undefined)
      throw createSwitchmanError(`--lease ${quoteText(value)} is not RESOURCE=COUNT:TOTAL`);
    this.leases.set(resource, value);
  }
}

function parseOptionName(spelled: string, typed: string): OptionName {
  const word = spelled.toLowerCase();
  const exact = Object.hasOwn(SPELLINGS, word) ? SPELLINGS[word] : undefined;
  if (exact !== undefined) return exact;
  const spellings = Object.keys(SPELLINGS);
  const meant = word === "" ? [] : spellings.filter((one) => one.startsWith(word));
  const [only, ...others] = new Set(meant.map((one) => SPELLINGS[one]));
  if (only !== undefined && others.length === 0) return only;
  const shown = `unknown option ${quoteText(`--${spelled || typed}`)}`;
  if (only !== undefined)
    throw createSwitchmanError(`${shown}; it could be ${meant.map((one) => `--${one}`).join(", ")}`);
  const hint = findNearest(
    word,
    spellings.filter((one) => one.length > 1),
  );
  throw createSwitchmanError(hint === undefined ? shown : `${shown}; did you mean --${hint}?`);
}

function checkName(name: string): void {
  if (name.includes("/")) throw createSwitchmanError(`a lock's name cannot contain "/": ${quoteText(name)}`);
  const bytes = new TextEncoder().encode(name).length;
  if (bytes > LONGEST_NAME)
    throw createSwitchmanError(
      `the lock's name is too long: ${bytes} bytes, at most ${LONGEST_NAME} are allowed`,
    );
}

function createSwitchmanError(what: string): UsageError {
  return new UsageError(`switchman: ${what}`);
}

/** Returns the last part of a path, ignoring trailing slashes. For the root, returns the root. */
function getLastSegment(path: string): string {
  const trimmed = path.replace(/(?<=[^/])\/+$/, "");
  return /^\/+$/.test(trimmed) ? "/" : trimmed.slice(trimmed.lastIndexOf("/") + 1);
}
