import http from "node:http";
import https from "node:https";
import { parseObject } from "../base/parse-json.ts";
import { parseEndpoint } from "./endpoint.ts";
import type { StoreOptions, TlsOptions } from "./options.ts";
import { buildSecureContext } from "./tls.ts";

/** What a member publishes outside its API. Undefined fields are not available. */
export interface MemberMetrics {
  /** The etcd version, e.g. `3.5.30`. */
  version: string | undefined;
  /** Quota of the database, bytes. */
  quota: number | undefined;
  /** The revision up to which the history is compacted. */
  compacted: bigint | undefined;
  /** The member's wall clock minus the local one lies between these, ms. */
  clock: { least: number; most: number } | undefined;
  /** `--auto-compaction-retention` of its command line, if it was read. A configuration file or variable may set it too. */
  autoCompaction?: string | undefined;
}

const NOTHING: MemberMetrics = {
  version: undefined,
  quota: undefined,
  compacted: undefined,
  clock: undefined,
};
/** Timeout of a request, ms. The result is optional. */
const WITHIN = 5_000;
const LARGEST = 8_000_000;

/**
 * Reads the metrics that a member publishes on its client address, for both transports.
 * @param url  of the member
 * @param wall  wall clock, ms since the epoch
 * @returns the available values; never throws, because many etcd servers have no metrics there
 */
export async function readMemberMetrics(
  url: string,
  tls: TlsOptions | undefined,
  wall: () => number,
  signal: AbortSignal,
): Promise<MemberMetrics> {
  try {
    const { text, clock } = await fetchText(`${url}/metrics`, tls, wall, signal);
    const quota = Number(/^etcd_server_quota_backend_bytes (\S+)$/m.exec(text)?.[1]);
    const version = /^etcd_server_version\{server_version="([^"]+)"\} 1$/m.exec(text)?.[1];
    const compacted = Number(/^etcd_debugging_mvcc_compact_revision (\S+)$/m.exec(text)?.[1]);
    return {
      version,
      quota: quota > 0 ? quota : undefined,
      compacted: compacted > 0 ? BigInt(Math.round(compacted)) : undefined,
      clock,
    };
  } catch {
    return NOTHING;
  }
}

/**
 * Reads for how long a member keeps past states, from the command line that it publishes.
 * @returns undefined if that does not say it; never throws
 */
export async function readAutoCompaction(
  url: string,
  tls: TlsOptions | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { cmdline } = parseObject((await fetchText(`${url}/debug/vars`, tls, Date.now, signal)).text);
    const line = Array.isArray(cmdline) ? cmdline.join(" ") : "";
    return / --?auto-compaction-retention[= ]([^ ]+)/.exec(line)?.[1];
  } catch {
    return undefined;
  }
}

/**
 * Reads the difference between a member's wall clock and the local one from the Date header of an HTTP response, for
 * both transports.
 * @returns undefined when the member does not answer or sends no date
 */
async function readMemberClock(
  url: string,
  tls: TlsOptions | undefined,
  wall: () => number,
  signal: AbortSignal,
): Promise<MemberMetrics["clock"]> {
  try {
    return (await fetchText(`${url}/version`, tls, wall, signal)).clock;
  } catch {
    return undefined;
  }
}

/**
 * @param date  the Date header, ms since the epoch, truncated to whole seconds; NaN when it is missing
 * @param before  local wall clock before the request
 * @param after  local wall clock after the response
 */
function computeClockOffset(date: number, before: number, after: number): MemberMetrics["clock"] {
  return Number.isNaN(date) ? undefined : { least: date - after, most: date + 999 - before };
}

function fetchText(
  url: string,
  tls: TlsOptions | undefined,
  wall: () => number,
  signal: AbortSignal,
): Promise<Pick<MemberMetrics, "clock"> & { text: string }> {
  const before = wall();
  const ended = AbortSignal.any([signal, AbortSignal.timeout(WITHIN)]);
  const isSecure = url.startsWith("https:");
  const secure = isSecure && {
    secureContext: buildSecureContext(tls ?? {}),
    rejectUnauthorized: tls?.insecureSkipVerify !== true,
    ...(tls?.serverName !== undefined && { servername: tls.serverName }),
  };
  return new Promise((resolve, reject) => {
    const options = { agent: false as const, signal: ended, ...secure };
    const request = (isSecure ? https : http).get(url, options, (answer) => {
      const chunks: Buffer[] = [];
      let length = 0;
      answer.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length > LARGEST) request.destroy(new Error("too long"));
        else chunks.push(chunk);
      });
      answer.on("error", reject);
      answer.on("end", () => {
        const clock = computeClockOffset(Date.parse(answer.headers.date ?? ""), before, wall());
        resolve({ text: Buffer.concat(chunks).toString("latin1"), clock });
      });
    });
    request.on("error", reject);
  });
}

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
