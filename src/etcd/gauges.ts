import http from "node:http";
import https from "node:https";
import type { TlsOptions } from "./options.ts";
import { secureContext } from "./tls.ts";

/** What a member says beside its API. Undefined: it does not say, or not here. */
export interface Gauges {
  /** What its database may grow to, in bytes. */
  quota: number | undefined;
  /** Its wall clock less ours: somewhere between these, in ms. */
  clock: { least: number; most: number } | undefined;
}

const NOTHING: Gauges = { quota: undefined, clock: undefined };
/** It is asked so long, ms; nothing depends on the answer. */
const WITHIN = 2_000;
const LARGEST = 8_000_000;

/**
 * Reads what a member publishes for monitoring on its client address, whatever the transport.
 * @param url  of the member
 * @param wall  wall clock, ms since the epoch
 * @returns what there is; never throws, since many an etcd has no metrics there
 */
export async function gaugesOf(
  url: string,
  tls: TlsOptions | undefined,
  wall: () => number,
  signal: AbortSignal,
): Promise<Gauges> {
  try {
    const before = wall();
    const { text, date } = await get(`${url}/metrics`, tls, signal);
    const quota = Number(/^etcd_server_quota_backend_bytes (\S+)$/m.exec(text)?.[1]);
    const clock = Number.isNaN(date) ? undefined : { least: date - wall(), most: date + 999 - before };
    return { quota: quota > 0 ? quota : undefined, clock };
  } catch {
    return NOTHING;
  }
}

/** @returns `date`: of the answer's head, ms since the epoch, cut to whole seconds; NaN where it has none */
function get(
  url: string,
  tls: TlsOptions | undefined,
  signal: AbortSignal,
): Promise<{ text: string; date: number }> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(WITHIN)]);
  const isSecure = url.startsWith("https:");
  const secure = isSecure && {
    secureContext: secureContext(tls ?? {}),
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
        const date = Date.parse(answer.headers.date ?? "");
        resolve({ text: Buffer.concat(chunks).toString("latin1"), date });
      });
    });
    request.on("error", reject);
  });
}
