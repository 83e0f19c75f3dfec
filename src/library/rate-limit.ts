import * as v from "valibot";
import { OVER } from "../base/over.ts";
import { isCount } from "../schedule/json-fields.ts";
import { acquire, CLAIM_OPTIONS } from "./claims.ts";
import type { LibraryConnection } from "./connection.ts";
import { DURATION, parseOptions, quoteOption } from "./options-schema.ts";
import type { Held, RateOptions } from "./types.ts";

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
    leases: [`${resource}=1:${max}`],
    wait,
    ...(signal !== undefined && { signal }),
  });
  void keepFor(connection, held, per);
}

/** Releases a claim after a time, or when the connection is closed. A lost claim is released without effect. */
async function keepFor(connection: LibraryConnection, held: Held, span: number): Promise<void> {
  const over = new AbortController();
  const timer = { close: async () => over.abort(OVER) };
  try {
    connection.adopt(timer);
    await connection.ports.clock.sleep(span, over.signal);
  } catch {
    // The connection is closed, which releases the claim too.
  } finally {
    connection.drop(timer);
    await held.release();
  }
}
