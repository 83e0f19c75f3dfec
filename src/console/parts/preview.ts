import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import type { ActionOutcome } from "../../commands/outcome/action-outcome.ts";
import type { OperationResult } from "../../commands/outcome/operation-result.ts";
import type { Command } from "../../commands/spec.ts";
import type { Jobs } from "../data/jobs.ts";

/** What a command would do. */
export interface CommandPreview {
  /** Undefined if the preview failed; the messages then give the reason. */
  revision: string | undefined;
  /** How the dry run ended; `failed`: the command cannot be done. */
  outcome: Extract<OperationResult, { outcome: string }>["outcome"] | "failed";
  messages: readonly string[];
  /** One key for each message. It stays the same as time passes, though ages in the message change. */
  messageKeys: readonly string[];
  /** Whether the command ends at least one run that may be alive: its verdict is not `gone`. */
  isLive: boolean;
  /** The runs that the command ends, as one text. If it differs, the preview concerns other runs. */
  affectedRuns: string;
}

/** What `runPreview` needs besides the command. */
interface PreviewPorts {
  signal: AbortSignal;
  /** Describes in one line what follows from the command; undefined if there is nothing to tell. */
  describeNext?: (result: OperationResult) => string | undefined;
}

/** Runs a command with `--dry-run`. Changes nothing and never fails. @param words  the words after its name */
export async function runPreview(
  jobs: Pick<Jobs, "perform">,
  command: Command,
  words: readonly string[],
  { signal, describeNext }: PreviewPorts,
): Promise<CommandPreview> {
  if (!hasFlag(command, "dry-run"))
    return { ...createFailedPreview(["this command has no preview"]), outcome: "dry-run" };
  const told: string[] = [];
  const writeLine = (text: string) => void told.push(text);
  const { outcome } = await jobs.perform(command, ["--dry-run", ...words], { writeLine, signal });
  return outcome === undefined ? createFailedPreview(told) : createPreview(outcome, describeNext);
}

export function hasFlag({ flags = [] }: Command, name: string): boolean {
  return flags.some((flag) => flag.name === name);
}

/** Creates the preview from the outcome of a dry run. What follows comes first: a small screen cuts the end off. */
export function createPreview(
  end: ActionOutcome,
  describeNext: PreviewPorts["describeNext"] = () => undefined,
): CommandPreview {
  const { exitCode, result, messages, messageKeys = messages, notes } = end;
  if (exitCode !== EXIT.ok || !("outcome" in result)) return createFailedPreview(messages);
  const next = describeNext(result);
  const first = next === undefined ? [] : [next];
  return {
    revision: String(result.revision),
    outcome: result.outcome,
    messages: [...first, ...messages, ...notes].map((text) => clean(text)),
    messageKeys: [...first, ...messageKeys, ...notes],
    isLive: result.kind === "eviction" && result.runners.some(({ verdict }) => verdict !== "gone"),
    affectedRuns: listEndedRuns(result).join(" "),
  };
}

/** Lists the runs that a command ends. */
function listEndedRuns(result: OperationResult): string[] {
  switch (result.kind) {
    case "eviction":
      return result.preview.evicted.map(({ run }) => run);
    case "drain":
      return result.endsHolders ? result.holders.map(({ run }) => run) : [];
    default:
      return [];
  }
}

function createFailedPreview(messages: readonly string[]): CommandPreview {
  const outcome = "failed" as const;
  const cleaned = messages.map((text) => clean(text));
  return {
    revision: undefined,
    outcome,
    messages: cleaned,
    messageKeys: cleaned,
    isLive: false,
    affectedRuns: "",
  };
}
