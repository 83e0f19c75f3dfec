import type { Cron } from "../cron/cron.ts";
import { type ClockEffect, listClockEffects } from "./lint-clock.ts";

/** What another scheduler does instead, for each effect that differs there. */
export type ClockRule = Readonly<Partial<Record<ClockEffect["kind"], string>>>;

/**
 * Describes what the clock changes of the next year do to a schedule here, and what another scheduler does instead.
 * @param now  ms since the epoch
 * @returns one text; undefined if nothing differs
 */
export function describeClockDifference(
  cron: Cron,
  zone: string,
  now: number,
  rule: ClockRule,
): string | undefined {
  const texts = listClockEffects(cron, zone, now).flatMap(({ kind, detail }) =>
    rule[kind] === undefined ? [] : [`${detail} (${rule[kind]})`],
  );
  return texts.length === 0 ? undefined : texts.join("; ");
}
