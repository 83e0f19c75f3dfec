import { UsageError } from "../../core/base/errors.ts";
import { findNearest, quoteText } from "../../core/base/text.ts";
import { type OptionFault, type OptionSyntax, parseToolWords } from "./getopt.ts";

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

/** Like Perl's Getopt::Long. Options can follow arguments, up to `--`. */
const OPTION_SYNTAX: OptionSyntax = {
  tool: "switchman",
  style: "perl",
  isInterspersed: true,
  options: [
    "-c --config FILE",
    "--endpoints URLS",
    "-g --group GROUP",
    "-h --help",
    "--lease LEASE",
    "--lock",
    "--nolock --no-lock",
    "--lockname NAME",
    "-v --version",
  ],
  createError: createOptionError,
};

const OPTION_NAMES = OPTION_SYNTAX.options.flatMap((text) => text.match(/(?<=--)[a-z-]+/g) ?? []);

/** Maximum length of a lock name, in bytes. */
const LONGEST_NAME = 512;

/**
 * Parses the words of a `switchman` line like switchman's option parser.
 * @throws UsageError if switchman would refuse the words
 */
export function parseSwitchman(words: readonly string[]): SwitchmanCall {
  const { asks, takesLock, texts, leases, command } = collectOptions(words);
  // Perl treats an empty text and "0" as no value.
  const getText = (name: string) => (texts.get(name) === "0" ? undefined : texts.get(name) || undefined);
  const [file = ""] = command;
  if (file === "" && asks === undefined) throw createSwitchmanError("no command is given");
  const name = asks === undefined ? (getText("lockname") ?? getLastSegment(file)) : "";
  checkName(name);
  return {
    asks,
    config: getText("config"),
    endpoints: getText("endpoints"),
    group: getText("group"),
    leases: [...leases.values()],
    command,
    name,
    lock: takesLock && asks === undefined ? name : undefined,
  };
}

/** Collects the options up to one that asks for help or the version. The last value of an option applies. */
function collectOptions(words: readonly string[]) {
  const texts = new Map<string, string>();
  const leases = new Map<string, string>();
  const command: string[] = [];
  let takesLock = true;
  for (const { name, value, source } of parseToolWords(words, OPTION_SYNTAX)) {
    // switchman refuses `--group=` but accepts `--group ""`.
    if (name !== undefined && value === "" && source.endsWith("="))
      throw createSwitchmanError(`--${name} needs a value`);
    if (name === "help" || name === "version")
      return { asks: name, takesLock, texts, leases, command } as const;
    if (name === undefined) command.push(value);
    else if (name === "lock" || name === "nolock") takesLock = name === "lock";
    else if (name === "lease") leases.set(parseResource(value), value);
    else texts.set(name, value);
  }
  return { asks: undefined, takesLock, texts, leases, command };
}

function parseResource(lease: string): string {
  const [, resource] = /^([^=]+)=[^:]+:./s.exec(lease) ?? [];
  if (resource !== undefined) return resource;
  throw createSwitchmanError(`--lease ${quoteText(lease)} is not RESOURCE=COUNT:TOTAL`);
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

function createOptionError({ kind, word, typed, inline, names }: OptionFault): UsageError {
  const [name = ""] = names;
  if (kind === "no value") return createSwitchmanError(`--${name} needs a value`);
  if (kind === "unwanted value")
    return createSwitchmanError(`--${name} takes no value; got ${quoteText(inline ?? "")}`);
  const spelled = typed.replace(/^(?:--|[-+])/, "");
  const shown = `unknown option ${quoteText(`--${spelled || word.replace(/^(?:--|[-+])/, "")}`)}`;
  if (spelled !== "" && kind === "ambiguous")
    return createSwitchmanError(`${shown}; it could be ${names.map((one) => `--${one}`).join(", ")}`);
  const hint = findNearest(spelled.toLowerCase(), OPTION_NAMES);
  return createSwitchmanError(hint === undefined ? shown : `${shown}; did you mean --${hint}?`);
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
