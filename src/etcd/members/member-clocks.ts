import { parseEndpoint } from "../endpoint.ts";
import type { StoreOptions } from "../options.ts";
import { type MemberMetrics, readMemberClock } from "./member-metrics.ts";

/** A member's wall clock minus the local one lies between `least` and `most`, ms. */
type MemberClock = NonNullable<MemberMetrics["clock"]> & { endpoint: string };

/**
 * Reads the wall clocks of all configured members that report them.
 * @param wall  local wall clock, ms since the epoch
 */
export async function readMemberClocks(
  { endpoints, tls }: Pick<StoreOptions, "endpoints" | "tls">,
  wall: () => number,
  signal: AbortSignal,
): Promise<MemberClock[]> {
  const asked = endpoints.map(async (text) => {
    const endpoint = parseEndpoint(text, tls !== undefined).url;
    const clock = await readMemberClock(endpoint, tls, wall, signal);
    return clock === undefined ? [] : [{ endpoint, ...clock }];
  });
  return (await Promise.all(asked)).flat();
}
