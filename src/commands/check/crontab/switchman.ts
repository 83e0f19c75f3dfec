import { UsageError } from "../../../base/errors.ts";
import { nearest, quoted } from "../../../base/text.ts";
import { shellWord } from "../../shell-word.ts";

/** A line of switchman, in our words. */
export interface SwitchmanCall {
  lock: string | undefined;
  group: string | undefined;
  /** As in `--lease`. */
  leases: readonly string[];
  command: readonly string[];
}

/** By name: whether a value follows. */
const OPTIONS: Record<string, boolean> = {
  ...{ config: true, group: true, lease: true, lockname: true },
  ...{ lock: false, "no-lock": false, nolock: false, help: false, version: false },
};
const SHORT: Record<string, string> = { c: "config", g: "group", h: "help", v: "version" };

interface Given {
  flags: Map<string, string>;
  leases: string[];
  rest: string[];
}

/**
 * The words of a `switchman` line, as its option parser takes them: names may be cut short and start with one dash or two,
 * options may stand behind arguments up to `--`.
 * @throws UsageError where switchman would refuse them
 */
export function parseSwitchman(words: readonly string[]): SwitchmanCall {
  const { flags, leases, rest } = readWords(words);
  const [file] = rest;
  if (file === undefined) throw new UsageError("switchman: no command is given");
  const isWithout = flags.has("no-lock") || flags.has("nolock");
  const lock = flags.get("lockname") ?? baseName(file);
  if (!isWithout && lock.includes("/"))
    throw new UsageError(`switchman: a lock's name cannot hold "/": ${quoted(lock)}`);
  return { lock: isWithout ? undefined : lock, group: flags.get("group"), leases, command: rest };
}

/** The same wish as a line of ours. */
export function asSignalbox({ lock, group, leases, command }: SwitchmanCall): string {
  const named = lock === baseName(command[0] ?? "") ? [] : ["--lock", lock ?? ""];
  const words = [
    ...["signalbox", "run", "-E", "0"],
    ...(lock === undefined ? ["--no-lock"] : named),
    ...(group === undefined ? [] : ["-g", group]),
    ...leases.flatMap((lease) => ["--lease", lease]),
    ...["--", ...command],
  ];
  return words.map(shellWord).join(" ");
}

function readWords(words: readonly string[]): Given {
  const given: Given = { flags: new Map(), leases: [], rest: [] };
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word === "--") {
      given.rest.push(...left);
      break;
    }
    if (!word.startsWith("-") || word === "-") given.rest.push(word);
    else readOption(word, left, given);
  }
  return given;
}

function readOption(word: string, left: string[], { flags, leases }: Given): void {
  const [, typed = "", inline] = /^--?([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const name = optionNamed(typed);
  const value = OPTIONS[name] ? (inline ?? left.shift()) : "";
  if (value === undefined) throw new UsageError(`switchman: --${name} needs a value, none is given`);
  if (name !== "lease") flags.set(name, value);
  else if (/^[^=]+=[^:]+:./s.test(value)) leases.push(value);
  else throw new UsageError(`switchman: --lease ${quoted(value)} is not RESOURCE=COUNT:TOTAL`);
}

function optionNamed(typed: string): string {
  const names = Object.keys(OPTIONS);
  const short = SHORT[typed];
  if (short !== undefined) return short;
  if (names.includes(typed)) return typed;
  const meant = typed === "" ? [] : names.filter((name) => name.startsWith(typed.toLowerCase()));
  const [only] = meant;
  if (only !== undefined && meant.length === 1) return only;
  const hint = nearest(typed, names);
  throw new UsageError(
    `switchman: ${quoted(`--${typed}`)} is none of its options${hint === undefined ? "" : `; did you mean --${hint}?`}`,
  );
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
