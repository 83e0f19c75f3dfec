import { lookup } from "node:dns/promises";
import { setTimeout } from "node:timers/promises";

/**
 * Time limit for a lookup, ms. A slower lookup does not mean that the host is unknown: the name server may be
 * unreachable.
 */
const LONGEST_MS = 5_000;

/** Whether one of the addresses has a host that does not exist according to this host's resolver. */
export async function hasUnknownHost(addresses: string): Promise<boolean> {
  const known = await Promise.all(addresses.split(",").map(getHostname).map(isKnown));
  return known.includes(false);
}

function getHostname(address: string): string {
  const url = address.includes("://") ? address.trim() : `http://${address.trim()}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "";
}

async function isKnown(host: string): Promise<boolean> {
  const asked = lookup(host).then(
    () => true,
    () => false,
  );
  const timer = new AbortController();
  const late = setTimeout(LONGEST_MS, true, { signal: timer.signal, ref: false }).catch(() => true);
  try {
    return await Promise.race([asked, late]);
  } finally {
    timer.abort();
  }
}
