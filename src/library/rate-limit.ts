import * as v from "valibot";
import { isCount } from "../schedule/json-fields.ts";
import type { RateOptions } from "./claim-types.ts";
import { acquire, CLAIM_OPTIONS } from "./claims.ts";
import type { LibraryConnection } from "./connection.ts";
import { DURATION, parseOptions, quoteOption } from "./options-schema.ts";

const isMax = (value: unknown): value is number => isCount(value) && value >= 1;

const OPTIONS = {
  max: v.custom<number>(isMax, quoteOption("is not a whole number of 1 or more")),
  per: DURATION,
  wait: CLAIM_OPTIONS.wait,
  signal: CLAIM_OPTIONS.signal,
} satisfies Record<keyof RateOptions, v.GenericSchema>;

/**
 * Waits until one more may begin: for a unit of a resource, which is kept for the span.
 * @throws the errors of `acquire`
 */
export async function limitRate(
  connection: LibraryConnection,
  resource: string,
  options: RateOptions,
): Promise<void> {
  const { max, per, wait = true, signal } = parseOptions("limitRate", options, OPTIONS);
  const held = await acquire(connection, {
    ...{ leases: [`${resource}=1:${max}`], wait },
    ...(signal !== undefined && { signal }),
  });
  // Also when the claim is lost: the unit is free then, and a release changes nothing.
  void connection.ports.clock.sleep(per).then(() => held.release());
}
