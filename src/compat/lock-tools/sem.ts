import { UsageError } from "../../base/errors.ts";
import { collectTexts, quoteText } from "../../base/text.ts";
import { type GetoptSpec, parseGetopt } from "../getopt.ts";
import { formatOneHostNote } from "../lock-tools.ts";
import type { LineTranslator } from "../translated-run.ts";

/** @see sem(1) of GNU parallel */
const OPTIONS: GetoptSpec = {
  tool: "sem",
  short: { j: "jobs", P: "jobs" },
  long: {
    semaphore: "semaphore",
    fg: "fg",
    bg: "bg",
    jobs: "jobs",
    "max-procs": "jobs",
    wait: "wait",
    id: "id",
    semaphorename: "id",
    st: "timeout",
    semaphoretimeout: "timeout",
    pipe: "pipe",
  },
  valued: ["jobs", "id", "timeout"],
};

/** Translates a line of `sem` or `parallel --semaphore` to a lock, or to a lease of a resource if several may run. */
export const translateSem: LineTranslator = (words, variables) => {
  const { options, rest } = parseGetopt(words, OPTIONS);
  const given = new Map(options);
  if (given.has("wait") || rest.length === 0)
    throw new UsageError(
      "sem: without a command, it waits for the commands of other lines; signalbox cannot do that",
    );
  return {
    options: buildClaimFlags(given),
    command: [variables.get("SHELL") || "/bin/sh", "-c", rest.join(" ")],
    notes: collectTexts([
      formatOneHostNote("sem"),
      !given.has("fg") &&
        "sem ends at once and leaves the command in the background; signalbox run waits for it",
      !given.has("id") &&
        "sem without --id has one semaphore for all such lines of a user: they share the lock sem",
    ]),
  };
};

function buildClaimFlags(given: ReadonlyMap<string, string>): string[] {
  const name = `sem.${given.get("id") ?? ""}`.replace(/\.$/, "");
  const jobs = given.get("jobs") ?? "1";
  if (!/^0*[1-9]\d{0,5}$/.test(jobs))
    throw new UsageError(
      `sem: -j ${quoteText(jobs)} depends on the host; write a lease by hand: --no-lock --lease ${name}=1:N`,
    );
  const time = parseTimeout(given.get("timeout"));
  if (Number(jobs) === 1)
    return ["--lock", name, time === undefined ? "--wait" : `--wait=${time}`, "-E", "1"];
  const lease = ["--no-lock", "--lease", `${name}=1:${Number(jobs)}`];
  return [...lease, ...(time === undefined ? [] : ["--lease-timeout", time]), "-E", "1"];
}

/**
 * Parses `--st`. A negative value gives up after the timeout. A positive one would then run without the semaphore,
 * which is refused.
 */
function parseTimeout(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [, seconds] = /^-(\d{1,9})$/.exec(text) ?? [];
  if (seconds === undefined)
    throw new UsageError(
      `sem: --st ${quoteText(text)} takes the semaphore although another command holds it; signalbox never does that: remove it, or write --st -SECONDS`,
    );
  return `${Number(seconds)}s`;
}
