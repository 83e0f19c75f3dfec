import type { CronJob } from "../../../fleet/crontab.ts";
import { shellCommands, UNKNOWN } from "../../../fleet/shell-words.ts";
import { hash } from "../../../schedule/hash.ts";

/** Words that start something else, and the flags of theirs that take a value. */
const WRAPPERS: Readonly<Record<string, string>> = {
  ...{
    env: "u",
    nice: "n",
    ionice: "cn",
    sudo: "ug",
    su: "cs",
    flock: "wE",
    timeout: "sk",
    nohup: "",
    exec: "",
  },
  ...{
    chronic: "",
    cronic: "",
    setsid: "",
    time: "",
    command: "",
    stdbuf: "ioe",
    sh: "",
    bash: "",
    dash: "",
  },
};
/** Commands that only prepare the one that is meant. */
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
 * Ids for the lines of a crontab, which stay the same as long as a line runs the same: a word for the command, and a hash
 * of what is run and as whom. When it is run is no part of it, so that another time changes a schedule and makes no new
 * one. A line that stands there twice gets a number.
 */
export function idsOf(jobs: readonly CronJob[], prefix: string): string[] {
  const met = new Map<string, number>();
  return jobs.map((job) => {
    const id = `${prefix}${slugOf(job.command)}-${digest(job)}`;
    const count = (met.get(id) ?? 0) + 1;
    met.set(id, count);
    return count === 1 ? id : `${id}-${count}`;
  });
}

function digest({ command, input = "", user = "" }: CronJob): string {
  return hash(JSON.stringify([user, command.replace(/[ \t]+/g, " "), input]))
    .toString(36)
    .padStart(7, "0");
}

/** The name of what a line runs, without its path and its ending: `db-dump`. */
export function slugOf(line: string): string {
  const read = shellCommands(line, new Map());
  const words = "value" in read ? read.value.map((one) => meantIn(one.words)) : [];
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

/** The first word that is neither a variable, nor a wrapper, nor a flag of one. */
function meantIn(words: readonly string[]): string | undefined {
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
