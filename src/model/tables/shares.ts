import { canonicalHost } from "../../fleet/groups.ts";
import { holds } from "../../protocol/admission.ts";
import { plainTotal } from "../foresee.ts";
import { type NamedQueue, type Picture, queueId } from "../picture.ts";
import { hostInName, type Owned, ownersIn } from "./owners.ts";
import type { Tone } from "./view.ts";

/** How much of one resource is used. Counts in its units. */
export interface Share {
  name: string;
  /** Its name without the host that it belongs to; the whole name where it belongs to none. */
  short: string;
  used: number;
  /** As configured, or as the first ticket states it; undefined where nobody says. */
  total: number | undefined;
  /** Tickets that wait for some. */
  waiting: number;
}

/** The resources of one host, side by side: `web1  cpu 3/4  mem 2048/7976`. */
export interface HostShares {
  /** Full name, as hosts are compared. */
  host: string;
  /** In the order that is configured for them, else by name. */
  parts: readonly Share[];
}

export interface Shares {
  /** By name of the host. */
  readonly hosts: readonly HostShares[];
  /** Resources that belong to no host, or to several, likewise in order. */
  readonly others: readonly Share[];
}

type Sight = Pick<Picture, "queues" | "resources" | "hosts">;
type Ordered = Share & { order: number };

/**
 * Every resource that is leased, waited for or configured, those of one host together. A resource is a host's where a
 * configuration with macros (`FQDN_cpu`) makes it that, where the host's full name stands in its name, or its short name
 * does and all its tickets are of that host.
 */
export function sharesOf(picture: Sight): Shares {
  const { configured, templates } = ownersIn(picture);
  const queued = [...picture.queues.values()].filter(({ kind }) => kind === "resource");
  const known = [...picture.resources.keys()].filter((name) => !templates.has(name));
  const names = new Set([...queued.map(({ name }) => name), ...known, ...configured.keys()]);
  const tickets = new Set(queued.flatMap((queue) => tallyOf(queue).hosts));
  const isHost = (host: string) => picture.hosts.has(host) || tickets.has(host);
  const hosts = new Map<string, Ordered[]>();
  const others: Ordered[] = [];
  for (const name of names) {
    const queue = picture.queues.get(queueId("resource", name));
    const owned = configured.get(name) ?? ownedByName(name, queue, isHost);
    const share = shareOf(picture, name, queue, owned);
    if (owned === undefined) others.push(share);
    else hosts.set(owned.host, [...(hosts.get(owned.host) ?? []), share]);
  }
  const list = [...hosts].map(([host, parts]) => ({ host, parts: inOrder(parts) }));
  return { hosts: list.sort((a, b) => (a.host < b.host ? -1 : 1)), others: inOrder(others) };
}

function ownedByName(
  name: string,
  queue: NamedQueue | undefined,
  isHost: (host: string) => boolean,
): Owned | undefined {
  const nothing = { total: undefined, config: undefined };
  const full = hostInName(name, (host) => host.includes(".") && isHost(host));
  if (full !== undefined) return { ...full, ...nothing };
  const [host, ...more] = queue === undefined ? [] : tallyOf(queue).hosts;
  if (host === undefined || more.length > 0) return undefined;
  const label = host.replace(/\..*$/s, "");
  const brief = hostInName(name, (word) => word === label);
  return brief && { host, short: brief.short, ...nothing };
}

function shareOf(
  picture: Sight,
  name: string,
  queue: NamedQueue | undefined,
  owned: Owned | undefined,
): Ordered {
  const tally = queue === undefined ? undefined : tallyOf(queue);
  const total = plainTotal(picture, name) ?? owned?.total ?? tally?.total;
  const config = picture.resources.get(name)?.value ?? owned?.config;
  return {
    ...{ name, short: owned?.short ?? name, total },
    ...{ used: tally?.used ?? 0, waiting: tally?.waiting ?? 0 },
    order: config?.order ?? Number.POSITIVE_INFINITY,
  };
}

function inOrder(shares: Ordered[]): Share[] {
  shares.sort((a, b) => (a.order !== b.order ? a.order - b.order : a.short < b.short ? -1 : 1));
  return shares.map(({ order: _, ...share }) => share);
}

interface Tally {
  used: number;
  waiting: number;
  total: number | undefined;
  /** Of its tickets, as hosts are compared. */
  hosts: readonly string[];
}

/** Tallies of queues that have not changed: the longest have many thousand places. */
const tallies = new WeakMap<NamedQueue, Tally>();

function tallyOf(queue: NamedQueue): Tally {
  const known = tallies.get(queue);
  if (known !== undefined) return known;
  const hosts = new Set<string>();
  const tally = { used: 0, waiting: 0, total: undefined as number | undefined };
  for (const place of queue.places) {
    const { ticket } = place;
    tally.total ??= ticket?.total;
    if (ticket !== undefined) hosts.add(ticket.host);
    if (holds(place)) tally.used += ticket?.count ?? 0;
    else tally.waiting += 1;
  }
  const whole = { ...tally, hosts: [...new Set([...hosts].map(canonicalHost))] };
  tallies.set(queue, whole);
  return whole;
}

/** `cpu 3/4`. Not cleaned. */
export function shareText({ short, used, total }: Pick<Share, "short" | "used" | "total">): string {
  return `${short} ${used}/${total ?? "?"}`;
}

/** What a share means, for colours: its text says the same. */
export function shareTone({ used, total, waiting }: Pick<Share, "used" | "total" | "waiting">): Tone {
  if (total !== undefined && used > total) return "problem";
  if (waiting > 0) return "waiting";
  return used > 0 ? "held" : "free";
}

const CELLS = 4;

/**
 * How much is used, in four cells: `▇▇▇▁`. Only none shows as none, and only all as all.
 * @param signs  a full cell and an empty one, each one column wide
 * @returns as many spaces where the total is not known
 */
export function shareBar(
  { used, total }: Pick<Share, "used" | "total">,
  [full, empty]: readonly [string, string],
): string {
  if (total === undefined || total <= 0) return " ".repeat(CELLS);
  const least = used > 0 ? 1 : 0;
  const most = used < total ? CELLS - 1 : CELLS;
  const cells = Math.min(most, Math.max(least, Math.round((CELLS * used) / total)));
  return full.repeat(cells) + empty.repeat(CELLS - cells);
}
