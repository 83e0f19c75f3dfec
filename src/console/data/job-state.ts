import type { StyleRole } from "../theme/roles.ts";
import type { ConsoleJob } from "./jobs.ts";

/** Describes the state of a job in a word. */
export function describeJobState({ code }: ConsoleJob): { text: string; role: StyleRole } {
  if (code === undefined) return { text: "running", role: "waiting" };
  if (code === 0) return { text: "done   ", role: "held" };
  if (code === 75) return { text: "refused", role: "problem" };
  if (code === 124) return { text: "timeout", role: "problem" };
  if (code > 128) return { text: "stopped", role: "quiet" };
  return { text: `exit ${code}`.padEnd(7), role: "problem" };
}
