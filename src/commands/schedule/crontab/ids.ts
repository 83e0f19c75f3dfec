import { hash } from "../../../base/hash.ts";
import type { CronJob } from "../../../syntax/crontab.ts";
import { removeReleaseNames } from "../../../syntax/release-path.ts";
import { parseShellCommands, UNKNOWN } from "../../../syntax/shell-parser.ts";

/** Programs that start another program, and their flags that take a value. */
const WRAPPERS: Readonly<Record<string, string>> = {
  env: "u",
  nice: "n",
  ionice: "cn",
  sudo: "ug",
  su: "cs",
  flock: "wE",
  timeout: "sk",
  nohup: "",
  exec: "",
  chronic: "",
  cronic: "",
  setsid: "",
  time: "",
  command: "",
  stdbuf: "ioe",
  sh: "",
  bash: "",
  dash: "",
};
/** Commands that only prepare the main command. */
const PREPARING = new Set([
  "cd",
  "test",
  "[",
  "[[",
  ".",
  "source",
  "export",
  "umask",
  "sleep",
  "set",
  "ulimit",
  "echo",
]);
const LONGEST = 32;

/**
 * Builds ids for the lines of a crontab: a word for the command, and a hash of the command, its input and its user. An
 * id stays the same while the line runs the same command. The time is not part of it, so a new time changes a schedule
 * instead of creating another. Duplicate lines get a number.
 */
export function buildScheduleIds(jobs: readonly CronJob[], prefix: string): string[] {
  const met = new Map<string, number>();
  return jobs.map((job) => {
    const id = `${prefix}${buildCommandSlug(job.command)}-${computeDigest(job)}`;
    const count = (met.get(id) ?? 0) + 1;
    met.set(id, count);
    return count === 1 ? id : `${id}-${count}`;
  });
}

function computeDigest({ command, input = "", user = "" }: CronJob): string {
  return hash(JSON.stringify([user, removeReleaseNames(command.replace(/[ \t]+/g, " ")), input]))
    .toString(36)
    .padStart(7, "0");
}

/** Returns the name of the program of a line, without path and extension: `db-dump`. */
export function buildCommandSlug(line: string): string {
  const read = parseShellCommands(line, new Map());
  const words = "value" in read ? read.value.map((one) => findCommandWord(one.words)) : [];
  const name = words.find((word) => word !== undefined) ?? "job";
  const plain = (name.split("/").findLast((part) => part !== "") ?? name).replace(
    /\.(sh|py|pl|rb|php|js|mjs|ts)$/i,
    "",
  );
  const slug = plain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST)
    .replace(/^-+|-+$/g, "");
  return slug === "" ? "job" : slug;
}

/** Finds the first word that is neither a variable, nor a wrapper, nor a flag of a wrapper. */
function findCommandWord(words: readonly string[]): string | undefined {
  let wrapper: string | undefined;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const name = word.split("/").at(-1) ?? word;
    if (wrapper !== undefined && word.startsWith("-")) {
      if (/^-\w$/.test(word) && WRAPPERS[wrapper]?.includes(word.slice(1))) at += 1;
    } else if (WRAPPERS[name] !== undefined) wrapper = name;
    else if (wrapper === "timeout" && /^[\d.]+[smhd]?$/.test(word)) wrapper = "env";
    else if (wrapper === "flock" && /[/.]|lock/i.test(word)) wrapper = "env";
    else if (PREPARING.has(name)) return undefined;
    else if (!/^\w+=/.test(word) && !word.includes(UNKNOWN)) return name;
  }
  return undefined;
}
