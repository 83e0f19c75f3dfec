import type { ShellCommand } from "../../cli/syntax/shell-parser.ts";
import { getBaseName } from "../../cli/syntax/shell-wrappers.ts";
import { quoteShellWords } from "../../core/base/shell.ts";
import type { TextEdit } from "./migration.ts";

/** What watches a job of a line from outside, such as `chronic`, `runitor`, or `&& curl https://hc-ping.com/UUID`. */
export interface Watchers {
  /** Index of the first command that stays, and of the job. */
  first: number;
  job: number;
  /** What does the same within `signalbox run`. */
  options: readonly string[];
  /** Removes the watchers from the text. */
  edits: readonly TextEdit[];
  notes: readonly string[];
}

/** A part of what is found. */
type Found = Pick<Watchers, "options" | "edits" | "notes">;

/** A value that only the shell knows, in a parsed word. */
const UNKNOWN = /[\ue000-\uf8ff]/;
/** The address of a check of healthchecks.io, also of an own server, and what follows it. */
const CHECK =
  /^(https?:\/\/(?:hc-ping\.com|[^/\s]+\/ping)\/[\w-]+(?:\/(?!(?:start|fail|success|log)\b)[a-z_][\w-]*)?)(\/start|\/fail|\/\$\?|)$/i;

const PING_NOTE =
  "--ping tells the check also when it starts, and each failure with the last lines of the output, but nothing if the lock is held";
const HOOK_NOTE = "a hook is called when the lock is free, and not if the lock is held";

/** Finds what watches the only job of a line. @returns undefined if nothing does, or if it cannot be taken into the run */
export function findWatchers(text: string, commands: readonly ShellCommand[]): Watchers | undefined {
  const isWatcher = ({ words }: ShellCommand) => /^(?:curl|wget)$/.test(getBaseName(words[0] ?? ""));
  const job = commands.findLastIndex((command) => !isWatcher(command));
  const first = commands.findIndex((command) => readCheck(text, command)?.path !== "/start");
  const command = commands[job];
  const isAlone = commands.slice(first, job).every(({ words, next }) => words[0] === "cd" && next === "&&");
  if (command === undefined || first < 0 || first > job || !isAlone) return undefined;
  const found = [
    readLeading(text, commands, first),
    readWrapper(command),
    readTrailing(text, commands, job),
  ].filter((part) => part !== undefined);
  const options = found.flatMap((part) => part.options);
  const checks = new Set(
    found.flatMap(({ options: own }) => own.filter((_, at) => own[at - 1] === "--ping")),
  );
  if (options.length === 0 || checks.size > 1) return undefined;
  const [check] = checks;
  return {
    first,
    job,
    options: [
      ...options.filter((word, at) => word !== "--ping" && options[at - 1] !== "--ping"),
      ...(check === undefined ? [] : ["--ping", check]),
    ],
    edits: found.flatMap((part) => part.edits),
    notes: [...new Set(found.flatMap((part) => part.notes))],
  };
}

/** Reads a call of curl or wget that pings a check. */
function readCheck(text: string, { words, spans }: ShellCommand): { url: string; path: string } | undefined {
  if (!/^(?:curl|wget)$/.test(getBaseName(words[0] ?? ""))) return undefined;
  for (const { start, end } of spans) {
    const source = text.slice(start, end).replace(/^(["'])(.*)\1$/s, "$2");
    const [, url, path = ""] = CHECK.exec(source) ?? [];
    if (url !== undefined) return { url, path };
  }
  return undefined;
}

/** Reads pings of the start before everything else. */
function readLeading(text: string, commands: readonly ShellCommand[], first: number): Found | undefined {
  const check = commands[0] && readCheck(text, commands[0]);
  const start = commands[first]?.spans[0]?.start;
  if (first === 0 || check === undefined || start === undefined) return undefined;
  return { options: ["--ping", check.url], edits: [{ start: 0, end: start, text: "" }], notes: [PING_NOTE] };
}

/** Reads the first wrapper of a job that watches it. */
function readWrapper({ words, spans }: ShellCommand): Found | undefined {
  const at = words.findIndex((word) => /^(?:chronic|cronic|runitor)$/.test(getBaseName(word)));
  const isLeading = words
    .slice(0, Math.max(0, at))
    .every((word) => /^(?:nice|ionice|-\w*|\d+|[A-Za-z_]\w*=.*)$/s.test(word));
  if (at < 0 || !isLeading) return undefined;
  const name = getBaseName(words[at] ?? "");
  const read =
    name === "runitor"
      ? readRunitor(words, at + 1)
      : { end: at + 1, options: ["--quiet-success"], notes: name === "cronic" ? [CRONIC_NOTE] : [] };
  const [from, to] = [spans[at]?.start, spans[read?.end ?? -1]?.start];
  if (read === undefined || from === undefined || to === undefined) return undefined;
  if (words[read.end]?.startsWith("-")) return undefined; // options change what it does
  return { ...read, edits: [{ start: from, end: to, text: "" }] };
}

const CRONIC_NOTE =
  "cronic also prints the output if there is any on standard error; --quiet-success prints it only if the command fails";

/** Reads the options of runitor. @returns undefined if some have no counterpart, or come from the environment */
function readRunitor(words: readonly string[], from: number) {
  const given = new Map<string, string>();
  let at = from;
  for (let word = words[at] ?? ""; word.startsWith("-") && word !== "--"; word = words[at] ?? "") {
    const [, name = "", joined] = /^--?([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (!/^(?:uuid|slug|ping-key|api-url)$/.test(name)) return undefined;
    given.set(name, joined ?? words[at + 1] ?? "");
    at += joined === undefined ? 2 : 1;
  }
  const check = given.get("uuid") ?? `${given.get("ping-key") ?? ""}/${given.get("slug") ?? ""}`;
  const server = (given.get("api-url") ?? "https://hc-ping.com").replace(/\/$/, "");
  const url = `${server}/${check}`;
  if (!/^[^/]+(?:\/[^/]+)?$/.test(check) || UNKNOWN.test(url) || !URL.canParse(url)) return undefined;
  return { end: words[at] === "--" ? at + 1 : at, options: ["--ping", url], notes: [PING_NOTE] };
}

/** Reads the calls behind a job, which tell how it ended. */
function readTrailing(text: string, commands: readonly ShellCommand[], job: number): Found | undefined {
  const trailing = commands.slice(job + 1);
  const [end, start] = [commands[job]?.spans.at(-1)?.end, trailing[0]?.spans[0]?.start];
  if (start === undefined || end === undefined) return undefined;
  const options: string[] = [];
  for (const [index, command] of trailing.entries()) {
    const own = readCall(text, command, commands[job + index]?.next ?? "");
    if (own === undefined || (own[0] !== "--ping" && options.includes(own[0] ?? ""))) return undefined;
    options.push(...own);
  }
  const operator = text.slice(end, start).search(/(?:&&|\|\||;)[^&|;]*$/);
  if (operator < 0) return undefined;
  const from = end + text.slice(end, end + operator).trimEnd().length;
  const notes = [
    ...(options.includes("--ping") ? [PING_NOTE] : []),
    ...(options.some((word) => word.startsWith("--on-")) ? [HOOK_NOTE] : []),
  ];
  return { options, edits: [{ start: from, end: text.length, text: "" }], notes };
}

/** Reads one call behind a job. @param operator  before it @returns the option for it */
function readCall(text: string, command: ShellCommand, operator: string): readonly string[] | undefined {
  const check = readCheck(text, command);
  const isMeant =
    (operator === "&&" && check?.path === "") ||
    (operator === "||" && check?.path === "/fail") ||
    (operator === ";" && check?.path === "/$?");
  if (check !== undefined) return isMeant ? ["--ping", check.url] : undefined;
  const option = operator === "||" ? "--on-failure" : operator === "&&" ? "--on-success" : undefined;
  const { words } = command;
  if (option === undefined || words.some((word) => UNKNOWN.test(word))) return undefined;
  return [option, quoteShellWords(words)];
}
