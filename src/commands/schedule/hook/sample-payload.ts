import type { HookName } from "../../../schedule/definition-values.ts";
import type { HookPayload } from "../../../work/worker/hooks/hook-payload.ts";

/** How late, and how long, the made-up run was, ms. */
const LATE = 90_000;
const DURATION = 42_000;
const OUTPUT = "This is a test of a hook. No run has failed.";

/** Builds the payload of a made-up run that ends now. @param now  wall clock, ms since the epoch */
export function buildSamplePayload(
  event: HookName,
  schedule: string,
  host: string,
  now: number,
): HookPayload {
  const scheduled = now - DURATION - LATE;
  const common = {
    version: 1 as const,
    event,
    schedule,
    type: schedule.split(".", 1)[0] ?? schedule,
    host,
    scheduled,
    scheduledTime: new Date(scheduled).toISOString(),
  };
  const started = { ...common, run: "test", attempt: 1, late: LATE };
  const ended = { ...started, startedAt: now - DURATION, endedAt: now, isDead: event === "dead" };
  switch (event) {
    case "start":
    case "late":
      return started;
    case "missed":
      return { ...common, endedAt: now, result: "skipped", count: 1, until: scheduled };
    case "success":
    case "recovered":
      return { ...ended, result: "ok", code: 0, tail: OUTPUT };
    default:
      return { ...ended, result: "failed", code: 1, tail: OUTPUT };
  }
}
