import { clean } from "../../../base/text.ts";
import type { Command } from "../../../commands/spec.ts";
import type { Jobs } from "./jobs.ts";

/** What a command would do, from its own output. */
export interface CommandPreview {
  /** Undefined if the preview failed; the messages then give the reason. */
  revision: string | undefined;
  /** `dry-run`, or why the command has nothing to do: `nothing`, `standing`. */
  outcome: string;
  messages: readonly string[];
  /** Whether the command ends at least one run that may be alive: its verdict is not `gone`. */
  isLive: boolean;
  /** The runs that the command ends, as one text. If it differs, the preview concerns other runs. */
  affectedRuns: string;
}

/** The JSON output of `--dry-run`. */
interface DryRunOutput {
  revision?: string;
  outcome?: string;
  messages?: readonly string[];
  notes?: readonly string[];
  runners?: readonly { verdict?: string }[];
  evicted?: readonly { run?: string }[];
  holders?: readonly { run?: string }[];
}

/** Messages with a command line, which the console renders itself. */
const REPEAT = /^do it with: /;

/** Runs a command with `--dry-run`. Changes nothing and never fails. @param words  the words after its name */
export async function runPreview(
  jobs: Pick<Jobs, "perform">,
  command: Command,
  words: readonly string[],
  signal: AbortSignal,
): Promise<CommandPreview> {
  const said: Record<"out" | "err", string[]> = { out: [], err: [] };
  const writeLine = (text: string, stream: "out" | "err") => void said[stream].push(text);
  const flags = ["--dry-run", "--json"].filter((flag) => hasFlag(command, flag.slice(2)));
  if (!flags.includes("--dry-run"))
    return {
      revision: undefined,
      outcome: "dry-run",
      messages: ["this command has no preview"],
      isLive: false,
      affectedRuns: "",
    };
  const code = await jobs.perform(command, [...flags, ...words], { writeLine, signal });
  const output = parseDryRunOutput(said.out.join("\n"));
  if (code !== 0 || output === undefined) return createFailedPreview(said.err, output);
  const { revision, outcome = "dry-run", messages = [], notes = [], runners = [] } = output;
  const { evicted = [], holders = [] } = output;
  const ended = words.includes("--reset") ? holders : evicted;
  return {
    ...{ revision, outcome },
    messages: [...messages.filter((text) => !REPEAT.test(text)), ...notes].map((text) => clean(text)),
    isLive: runners.some(({ verdict }) => verdict !== "gone"),
    affectedRuns: ended.map(({ run }) => run).join(" "),
  };
}

export function hasFlag({ flags = [] }: Command, name: string): boolean {
  return flags.some((flag) => flag.name === name);
}

function createFailedPreview(errors: readonly string[], output: DryRunOutput | undefined): CommandPreview {
  const told = errors.map((text) => clean(text).replace(/^signalbox: /, ""));
  const messages = [...told, ...(output?.messages ?? []).map((text) => clean(text))];
  return { revision: undefined, outcome: "failed", messages, isLive: false, affectedRuns: "" };
}

function parseDryRunOutput(text: string): DryRunOutput | undefined {
  try {
    return JSON.parse(text) as DryRunOutput;
  } catch {
    return undefined;
  }
}
