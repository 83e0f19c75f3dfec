import { clean } from "../../base/text.ts";
import type { Command } from "../../commands/spec.ts";
import type { Jobs } from "./jobs.ts";

/** What a command would do, as it says itself. */
export interface Preview {
  /** Undefined where it failed: then the messages say why. */
  revision: string | undefined;
  /** `dry-run`, or what makes it needless: `nothing`, `standing`. */
  outcome: string;
  messages: readonly string[];
  /** Somebody who is ended by it renews its session: it is alive, as far as anybody can tell. */
  isLive: boolean;
}

/** What commands print for programs when they are asked what they would do. */
interface Forecast {
  revision?: string;
  outcome?: string;
  messages?: readonly string[];
  notes?: readonly string[];
  runners?: readonly { verdict?: string }[];
}

/** Of these messages the console makes its own line. */
const REPEAT = /^do it with: /;

/** Asks a command what it would do. Changes nothing; never fails. @param words  what stands after its name */
export async function previewOf(
  jobs: Pick<Jobs, "perform">,
  command: Command,
  words: readonly string[],
  signal: AbortSignal,
): Promise<Preview> {
  const said: Record<"out" | "err", string[]> = { out: [], err: [] };
  const line = (text: string, stream: "out" | "err") => void said[stream].push(text);
  const flags = ["--dry-run", "--json"].filter((flag) => hasFlag(command, flag.slice(2)));
  if (!flags.includes("--dry-run"))
    return { revision: undefined, outcome: "dry-run", messages: ["it has no preview"], isLive: false };
  const code = await jobs.perform(command, [...flags, ...words], { line, signal });
  const forecast = parsed(said.out.join("\n"));
  if (code !== 0 || forecast === undefined) return failed(said.err, forecast);
  const { revision, outcome = "dry-run", messages = [], notes = [], runners = [] } = forecast;
  return {
    ...{ revision, outcome },
    messages: [...messages.filter((text) => !REPEAT.test(text)), ...notes].map((text) => clean(text)),
    isLive: runners.some(({ verdict }) => verdict !== "gone"),
  };
}

export function hasFlag({ flags = [] }: Command, name: string): boolean {
  return flags.some((flag) => flag.name === name);
}

function failed(errors: readonly string[], forecast: Forecast | undefined): Preview {
  const told = errors.map((text) => clean(text).replace(/^signalbox: /, ""));
  const messages = [...told, ...(forecast?.messages ?? []).map((text) => clean(text))];
  return { revision: undefined, outcome: "failed", messages, isLive: false };
}

function parsed(text: string): Forecast | undefined {
  try {
    return JSON.parse(text) as Forecast;
  } catch {
    return undefined;
  }
}
