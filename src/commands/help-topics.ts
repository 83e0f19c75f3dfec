import { EXIT_CODES } from "./exit-codes.ts";
import { section, wrapped } from "./help.ts";
import { type Command, TOPICS } from "./spec.ts";
import { json } from "./table.ts";

const MORE =
  "signalbox COMMAND --help says more about a command; signalbox help exit-codes, what exit codes mean.";

/** Help of the whole program: commands under what they are for. */
export function overview(commands: readonly Command[], columns: number): string {
  const gap = Math.max(...commands.map(({ id }) => id.length)) + 4;
  const topics = TOPICS.flatMap((topic) => {
    const rows = commands.filter((command) => command.topic === topic).map(briefRow);
    return section(topic, rows, columns, gap);
  });
  return [
    "signalbox: distributed locks and fair resource leases over etcd, for jobs on many hosts",
    "",
    "Usage: signalbox COMMAND [options] [arguments]",
    ...topics,
    "",
    "Put the same line into the crontab of several hosts; one of them runs it:",
    "  * * * * *  signalbox run --lock invoices -- ./invoices.sh",
    "",
    ...wrapped(MORE, columns),
    "",
  ].join("\n");
}

/** Help of the commands that begin with the same word, such as `group`. */
export function familyHelp(word: string, family: readonly Command[], columns: number): string {
  const words = family.map(({ id }) => id.slice(word.length + 1));
  return [
    `Usage: signalbox ${word} ${words.join("|")} [options] [arguments]`,
    ...section("Commands", family.map(briefRow), columns),
    "",
    `signalbox ${word} COMMAND --help says more about a command.`,
    "",
  ].join("\n");
}

function briefRow({ id, brief }: Command): readonly [string, string] {
  return [id, brief];
}

export function exitCodesHelp(columns: number): string {
  return [...section("Exit codes", EXIT_CODES, columns, 13).slice(1), ""].join("\n");
}

/** The same for programs. */
export function exitCodesJson(): string {
  const exitCodes = EXIT_CODES.map(([code, meaning]) => ({ code: code.replace("–", "-"), meaning }));
  return json({ exitCodes });
}
