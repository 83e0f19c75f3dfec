import type { HookPayload } from "./hook-payload.ts";
import type { HookText } from "./hook-text.ts";

/** Longest summary that PagerDuty accepts, characters. */
const LONGEST_SUMMARY = 1_024;
/** Events that end an alert. */
const RESOLVING: ReadonlySet<string> = new Set(["success", "recovered"]);
const SEVERITIES: Readonly<Partial<Record<HookPayload["event"], string>>> = {
  start: "info",
  late: "warning",
  missed: "warning",
};

/**
 * Builds an event of version 2 of PagerDuty's interface: it triggers the alert of a schedule, or resolves it.
 * @param key  routing key of the service
 * @see https://developer.pagerduty.com/docs/events-api-v2/trigger-events
 */
export function buildPagerdutyBody(
  { event, schedule, host, type }: HookPayload,
  { title, facts, output }: HookText,
  key: string,
): unknown {
  const alert = { routing_key: key, dedup_key: `signalbox/${schedule}`, client: "signalbox" };
  if (RESOLVING.has(event)) return { ...alert, event_action: "resolve" };
  const details = { ...Object.fromEntries(facts), ...(output !== "" && { Output: output }) };
  const payload = {
    summary: title.slice(0, LONGEST_SUMMARY),
    source: host,
    severity: SEVERITIES[event] ?? "error",
    component: schedule,
    class: type,
    custom_details: details,
  };
  return { ...alert, event_action: "trigger", payload };
}
