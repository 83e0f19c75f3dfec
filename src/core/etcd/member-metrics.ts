import http from "node:http";
import https from "node:https";
import { listenForAbort, type Millis, type WallTime } from "../base/clock.ts";
import { parseObject } from "../base/parse-json.ts";
import { parseEndpoint, type StoreOptions, type TlsOptions } from "./options.ts";
import { buildSecureContext } from "./tls.ts";

/** Data that a member publishes outside its API. Undefined fields are not available. */
export interface MemberMetrics {
  /** The etcd version, e.g. `3.5.30`. */
  version: string | undefined;
  /** Quota of the database, bytes. */
  quota: number | undefined;
  /** The revision up to which the history is compacted. */
  compacted: bigint | undefined;
  /** The member's wall clock minus the local one lies between these. */
  clock: { least: Millis; most: Millis } | undefined;
  /**
   * `--auto-compaction-retention` on its command line, if that was read. A configuration file or variable may set it
   * instead.
   */
  autoCompaction?: string | undefined;
}

/** Timeout of a request, ms. The result is optional. */
const REQUEST_TIMEOUT_MS = 5_000;
/** The same for a clock, ms: a worker fires nothing until it has compared its own. */
const CLOCK_WITHIN = 2_000;
const MAX_RESPONSE_BYTES = 8_000_000;

/**
 * Reads the metrics that a member publishes on its client address, for both transports.
 * @param url  of the member
 * @returns the available values; never throws, because many etcd servers have no metrics there
 */
export async function readMemberMetrics(
  url: string,
  tls: TlsOptions | undefined,
  wall: () => WallTime,
  signal: AbortSignal,
): Promise<MemberMetrics> {
  const { text, clock } = await readPage(`${url}/metrics`, tls, wall, signal);
  const find = (pattern: RegExp) => pattern.exec(text)?.[1];
  const quota = Number(find(/^etcd_server_quota_backend_bytes (\S+)$/m));
  const compacted = Number(find(/^etcd_debugging_mvcc_compact_revision (\S+)$/m));
  return {
    version: find(/^etcd_server_version\{server_version="([^"]+)"\} 1$/m),
    quota: quota > 0 ? quota : undefined,
    compacted: compacted > 0 && Number.isFinite(compacted) ? BigInt(Math.round(compacted)) : undefined,
    clock,
  };
}

/**
 * Reads how long a member keeps past revisions, from the command line that it publishes.
 * @returns undefined if the command line does not set it or cannot be read; never throws
 */
export async function readAutoCompaction(
  url: string,
  tls: TlsOptions | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { text } = await readPage(`${url}/debug/vars`, tls, Date.now, signal);
  const { cmdline } = parseObject(text);
  const line = Array.isArray(cmdline) ? cmdline.join(" ") : "";
  return / --?auto-compaction-retention[= ]([^ ]+)/.exec(line)?.[1];
}

/**
 * @param date  the Date header, truncated to whole seconds; NaN when it is missing
 * @param before  local wall clock before the request
 * @param after  local wall clock after the response
 */
function computeClockOffset(date: WallTime, before: WallTime, after: WallTime): MemberMetrics["clock"] {
  return Number.isNaN(date) ? undefined : { least: date - after, most: date + 999 - before };
}

/** Reads a page of a member. @returns no text and no clock if the member does not answer; never throws */
async function readPage(
  url: string,
  tls: TlsOptions | undefined,
  wall: () => WallTime,
  signal: AbortSignal,
  within = REQUEST_TIMEOUT_MS,
): Promise<Pick<MemberMetrics, "clock"> & { text: string }> {
  const before = wall();
  const isSecure = url.startsWith("https:");
  const { promise, resolve } = Promise.withResolvers<Pick<MemberMetrics, "clock"> & { text: string }>();
  const fail = () => resolve({ text: "", clock: undefined });
  try {
    const secure = isSecure && {
      secureContext: buildSecureContext(tls?.readAgain?.() ?? tls ?? {}),
      rejectUnauthorized: tls?.insecureSkipVerify !== true,
      ...(tls?.serverName !== undefined && { servername: tls.serverName }),
    };
    const options = { agent: false as const, signal, ...secure };
    const request = (isSecure ? https : http).get(url, options, (answer) => {
      const chunks: Buffer[] = [];
      let length = 0;
      answer.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length > MAX_RESPONSE_BYTES) request.destroy(new Error("too long"));
        else chunks.push(chunk);
      });
      answer.on("error", fail);
      answer.on("end", () => {
        const clock = computeClockOffset(Date.parse(answer.headers.date ?? ""), before, wall());
        resolve({ text: Buffer.concat(chunks).toString("latin1"), clock });
      });
    });
    request.on("error", fail);
    request.on("close", fail); // without an answer or an error, if the protocol changes
    // Needs its own listener: Node.js 22 may collect a timeout signal that is only a source of an `AbortSignal.any`.
    listenForAbort(AbortSignal.timeout(within), () => request.destroy(new Error("no answer")));
  } catch {
    fail(); // the certificates cannot be used
  }
  return await promise;
}

/** A member's wall clock minus the local one lies between `least` and `most`, ms. */
type MemberClock = NonNullable<MemberMetrics["clock"]> & { endpoint: string };

/**
 * Reads the wall clocks of all configured members that report them within 2 s, from the Date header of an HTTP response, for both
 * transports.
 */
export async function readMemberClocks(
  { endpoints, tls }: Pick<StoreOptions, "endpoints" | "tls">,
  wall: () => WallTime,
  signal: AbortSignal,
): Promise<MemberClock[]> {
  const readings = endpoints.map(async (text) => {
    const endpoint = parseEndpoint(text, tls !== undefined).url;
    const { clock } = await readPage(`${endpoint}/version`, tls, wall, signal, CLOCK_WITHIN);
    return clock === undefined ? [] : [{ endpoint, ...clock }];
  });
  return (await Promise.all(readings)).flat();
}
