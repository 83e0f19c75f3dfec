import { canonicalizeHost } from "../../fleet/groups.ts";
import { isHolding } from "../../protocol/admission.ts";
import { findPlainTotal } from "../preview/eviction-preview.ts";
import { buildQueueId, type NamedQueue, type Snapshot } from "../snapshot/snapshot.ts";
import type { Share, Tone } from "../views/view.ts";
import { findHostInName, findHostResources, type HostResource } from "./host-resources.ts";

/** The use of one resource, in its units. */
export interface ResourceShare {
  name: string;
  /** Its name without its host; the full name if it belongs to no host. */
  short: string;
  used: number;
  /** As configured, or as the first ticket states; undefined if neither exists. */
  total: number | undefined;
  /** Number of tickets that wait for units. */
  waiting: number;
}

/** The resources of one host: `web1  cpu 3/4  mem 2048/7976`. */
interface HostShares {
  /** Canonical full name. */
  host: string;
  /** In the configured order, then by name. */
  parts: readonly ResourceShare[];
}

export interface ResourceShares {
  /** Sorted by host name. */
  readonly hosts: readonly HostShares[];
  /** Resources that belong to no host, or to several, in the same order. */
  readonly others: readonly ResourceShare[];
}

type ShareSnapshot = Pick<Snapshot, "queues" | "resources" | "hosts">;
type OrderedShare = ResourceShare & { order: number };

/**
 * Computes the shares of all resources that are leased, waited for or configured, grouped by host. A resource belongs
 * to a host if a configuration with macros (`FQDN_cpu`) defines it for the host, if its name contains the full host
 * name, or if its name contains the short host name and all its tickets are from that host.
 */
export function computeShares(snapshot: ShareSnapshot): ResourceShares {
  const { configured, templates } = findHostResources(snapshot);
  const queued = [...snapshot.queues.values()].filter(({ kind }) => kind === "resource");
  const known = [...snapshot.resources.keys()].filter((name) => !templates.has(name));
  const names = new Set([...queued.map(({ name }) => name), ...known, ...configured.keys()]);
  const tickets = new Set(queued.flatMap((queue) => computeQueueTally(queue).hosts));
  const isHost = (host: string) => snapshot.hosts.has(host) || tickets.has(host);
  const hosts = new Map<string, OrderedShare[]>();
  const others: OrderedShare[] = [];
  for (const name of names) {
    const queue = snapshot.queues.get(buildQueueId("resource", name));
    const owned = configured.get(name) ?? findOwnerByName(name, queue, isHost);
    const share = computeShare(snapshot, name, queue, owned);
    if (owned === undefined) others.push(share);
    else hosts.set(owned.host, [...(hosts.get(owned.host) ?? []), share]);
  }
  const list = [...hosts].map(([host, parts]) => ({ host, parts: sortShares(parts) }));
  return { hosts: list.sort((a, b) => (a.host < b.host ? -1 : 1)), others: sortShares(others) };
}

function findOwnerByName(
  name: string,
  queue: NamedQueue | undefined,
  isHost: (host: string) => boolean,
): HostResource | undefined {
  const nothing = { total: undefined, config: undefined };
  const full = findHostInName(name, (host) => host.includes(".") && isHost(host));
  if (full !== undefined) return { ...full, ...nothing };
  const [host, ...more] = queue === undefined ? [] : computeQueueTally(queue).hosts;
  if (host === undefined || more.length > 0) return undefined;
  const label = host.replace(/\..*$/s, "");
  const brief = findHostInName(name, (word) => word === label);
  return brief && { host, short: brief.short, ...nothing };
}

function computeShare(
  snapshot: ShareSnapshot,
  name: string,
  queue: NamedQueue | undefined,
  owned: HostResource | undefined,
): OrderedShare {
  const tally = queue === undefined ? undefined : computeQueueTally(queue);
  const total = findPlainTotal(snapshot, name) ?? owned?.total ?? tally?.total;
  const config = snapshot.resources.get(name)?.value ?? owned?.config;
  return {
    name,
    short: owned?.short ?? name,
    total,
    used: tally?.used ?? 0,
    waiting: tally?.waiting ?? 0,
    order: config?.order ?? Number.POSITIVE_INFINITY,
  };
}

function sortShares(shares: OrderedShare[]): ResourceShare[] {
  shares.sort((a, b) => (a.order !== b.order ? a.order - b.order : a.short < b.short ? -1 : 1));
  return shares.map(({ order: _, ...share }) => share);
}

interface QueueTally {
  used: number;
  waiting: number;
  total: number | undefined;
  /** Canonical host names of its tickets. */
  hosts: readonly string[];
}

/** Tallies of unchanged queues: a queue may have many thousand entries. */
const tallies = new WeakMap<NamedQueue, QueueTally>();

function computeQueueTally(queue: NamedQueue): QueueTally {
  const known = tallies.get(queue);
  if (known !== undefined) return known;
  const hosts = new Set<string>();
  const tally = { used: 0, waiting: 0, total: undefined as number | undefined };
  for (const entry of queue.entries) {
    const { ticket } = entry;
    tally.total ??= ticket?.total;
    if (ticket !== undefined) hosts.add(ticket.host);
    if (isHolding(entry)) tally.used += ticket?.count ?? 0;
    else tally.waiting += 1;
  }
  const whole = { ...tally, hosts: [...new Set([...hosts].map(canonicalizeHost))] };
  tallies.set(queue, whole);
  return whole;
}

/** Formats a share as `cpu 3/4`. Not cleaned. */
export function formatShare({ short, used, total }: Pick<ResourceShare, "short" | "used" | "total">): string {
  return `${short} ${used}/${total ?? "?"}`;
}

/** Part of the units from which a resource is nearly full. */
const NEARLY = 0.8;

/** Returns the tone of a share: amber if it is nearly full or waited for, red if it is full and waited for. */
export function getShareTone({
  used,
  total,
  waiting,
}: Pick<ResourceShare, "used" | "total" | "waiting">): Tone {
  const part = total === undefined || total <= 0 ? 0 : used / total;
  if (part > 1 || (part === 1 && waiting > 0)) return "problem";
  if (waiting > 0 || part >= NEARLY) return "waiting";
  return used > 0 ? "held" : "free";
}

const CELLS = 4;

/**
 * Renders the used share as a bar: `▇▇▇▁`. The bar is empty only for no use, and full only for full use.
 * @param signs  a full cell and an empty one, each one column wide
 * @returns spaces if the total is not known
 */
export function renderShareBar(
  { used, total }: Share,
  [full, empty]: readonly [string, string],
  width = CELLS,
): string {
  if (total === undefined || total <= 0) return " ".repeat(width);
  const least = used > 0 ? 1 : 0;
  const most = used < total ? width - 1 : width;
  const cells = Math.min(most, Math.max(least, Math.round((width * used) / total)));
  return full.repeat(cells) + empty.repeat(width - cells);
}
