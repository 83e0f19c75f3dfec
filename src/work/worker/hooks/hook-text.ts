import { formatDuration } from "../../../base/duration.ts";
import { clean } from "../../../base/text.ts";
import type { HookPayload } from "./hook-payload.ts";

/** What a message says to people, as plain text without control characters. */
export interface HookText {
  /** One line. */
  title: string;
  /** Names and values, in order. */
  facts: readonly (readonly [name: string, value: string])[];
  /** Last lines of the output; empty if there are none. */
  output: string;
}

/** Longest output in a message, characters. The services limit messages to a few thousand. */
const LONGEST_OUTPUT = 1_500;

/** Describes an event for people. */
export function buildHookText(payload: HookPayload): HookText {
  const { schedule, host, scheduledTime, attempt, run, again, reason, tail = "" } = payload;
  const facts = [
    ["Scheduled", scheduledTime],
    ["Host", host],
    ["Attempt", attempt?.toString()],
    ["Reason", reason === undefined ? undefined : clean(reason)],
    ["Next attempt", again === undefined ? undefined : new Date(again).toISOString()],
    ["Run", run],
  ] as const;
  return {
    title: clean(`${schedule} ${describeEvent(payload)}`),
    facts: facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
    output: cleanLines(tail).slice(-LONGEST_OUTPUT),
  };
}

function describeEvent(payload: HookPayload): string {
  const { event, late = 0, count = 1, attempt } = payload;
  switch (event) {
    case "start":
      return "has started";
    case "success":
      return "has succeeded";
    case "recovered":
      return "has succeeded again";
    case "dead":
      return `was given up${attempt === undefined ? "" : ` after ${attempt} ${attempt === 1 ? "attempt" : "attempts"}`}`;
    case "late":
      return `has started ${formatDuration(Math.round(late / 1_000) * 1_000)} late`;
    case "missed":
      return `was skipped ${count === 1 ? "once" : `${count} times`}`;
    case "failure":
    case "failed-first":
      return describeFailure(payload);
  }
}

function describeFailure({ result, code }: HookPayload): string {
  if (result === "timeout") return "took too long and was ended";
  if (result === "lost") return "was interrupted";
  return code === undefined ? "has failed" : `has failed with exit code ${code}`;
}

function cleanLines(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => clean(line))
    .join("\n");
}
