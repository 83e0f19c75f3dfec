import { userInfo } from "node:os";
import { basename } from "node:path";
import { EXIT, UsageError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { type CrontabFormat, crontabFormat } from "../../fleet/crontab.ts";
import type { Catchup, Overlap } from "../../schedule/definition.ts";
import { checkZone } from "../../schedule/zone.ts";
import type { Import } from "../../work/schedule/importing.ts";
import { documentInput } from "../configure/document-input.ts";
import { textFlag } from "../flags.ts";
import type { Call, Surroundings } from "../spec.ts";
import { json } from "../table.ts";
import { convertCrontab, type Terms } from "./crontab/convert.ts";
import { readDocument } from "./document.ts";
import { checkName } from "./words.ts";

/** What a file says, and what is to be known about that. */
export interface Input {
  wanted: Import;
  notes: readonly string[];
}

/** The file of an import. @returns the exit code where it is no good; every fault was told then. @throws UsageError, SignalboxError 74 */
export async function importInput(call: Call, world: Surroundings): Promise<Input | number> {
  const [kind, file = "-"] = call.args;
  const text = await documentInput(world, file);
  const name = file === "-" ? "standard input" : file;
  if (kind === "json") {
    const read = readDocument(text);
    if ("faults" in read)
      return refuse(
        call,
        world,
        read.faults.map((fault) => `${name}: ${fault}`),
      );
    return {
      wanted: { target: `schedules of ${name}`, prunes: call.flags.prune === true, ...read },
      notes: [],
    };
  }
  const terms = termsOf(call, world, file, text);
  const { definitions, faults, notes } = convertCrontab(text, terms);
  const at = ({ line, detail }: { line: number; detail: string }) => `${name}:${line}: ${detail}`;
  if (faults.length > 0) return refuse(call, world, faults.map(at));
  const wanted = { target: terms.source.replace(":", " "), definitions, source: terms.source };
  return { wanted: { ...wanted, prunes: call.flags.prune === true }, notes: notes.map(at) };
}

function termsOf(call: Call, world: Surroundings, file: string, text: string): Terms {
  const group = textFlag(call, "host-group");
  const zone = textFlag(call, "timezone");
  const source = textFlag(call, "source") ?? (file === "-" ? "stdin" : basename(file));
  return {
    format: (textFlag(call, "format") as CrontabFormat | undefined) ?? formatOf(file, text),
    timezone: zone === undefined ? hostZone() : checkZone(zone),
    source: `crontab:${checkName("source", source)}`,
    prefix: textFlag(call, "prefix-id") ?? "",
    group: group === undefined ? undefined : checkName("group", group),
    workerUser: textFlag(call, "worker-user") ?? world.env.USER ?? userInfo().username,
    sudo: call.flags.sudo === true,
    catchup: (textFlag(call, "catchup") as Catchup | undefined) ?? "latest",
    overlap: (textFlag(call, "overlap") as Overlap | undefined) ?? "forbid",
  };
}

/** Its path may tell. A guess at the lines is not enough: what is taken for a user is no command. @throws UsageError */
function formatOf(file: string, text: string): CrontabFormat {
  const known = crontabFormat(file, "");
  if (known === crontabFormat(file, text)) return known;
  throw new UsageError(
    `${file === "-" ? "standard input" : file}: its commands begin with what may be a user or not: say --format system, or --format user`,
  );
}

/** As cron, which goes by the clock of its host. */
function hostZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Faults that are told; of more, only how many they are. */
const MANY = 50;

/** Tells what is wrong with a file. @returns the exit code */
export function refuse(call: Call, world: Surroundings, faults: readonly string[]): number {
  if (call.flags.json) world.out(json({ outcome: "faulty", faults }));
  else if (call.verbosity >= 0) {
    const more = faults.length > MANY ? [`and ${faults.length - MANY} faults more`] : [];
    for (const line of [...faults.slice(0, MANY), ...more, "nothing was changed"])
      world.err(`signalbox: ${clean(line)}\n`);
  }
  return EXIT.config;
}
