import type { WallTime } from "../../core/base/clock.ts";
import { SignalboxError } from "../../core/base/errors.ts";
import { memoizeWeakly } from "../../core/base/memoize.ts";
import { canonicalizeHost } from "../../core/base/text.ts";
import { evaluateUnits, substituteMacros } from "../../core/fleet/arithmetic.ts";
import type { HostRecord } from "../../core/fleet/host-record.ts";
import { createMacros, type MacroFacts, type Macros } from "../../core/fleet/macros.ts";
import type { ResourceConfig } from "../../core/fleet/resources.ts";
import { isHolding, sumHeldUnits } from "../../core/protocol/admission.ts";
import type { QueueEntry } from "../../core/protocol/ticket.ts";
import { findPlainTotal } from "./eviction-preview.ts";
import { buildQueueId, type NamedQueue, type Snapshot } from "./snapshot.ts";
import type { Share, Tone } from "./subject.ts";

/** The use of one resource, in its units. */
export interface ResourceShare {
  name: string;
  /** Its name without its host; the full name if it belongs to no host. */
  short: string;
  used: number;
  /** As `findResourceTotal` finds it. */
  total: number | undefined;
  /** Number of tickets that wait for units. */
  waiting: number;
  /** The name with macros that defines it for all hosts: `FQDN_mem`. */
  template?: string;
  /** How the record of the host gives the total: `23 = int(24105/1024)`, or why it does not. */
  formula?: string | undefined;
  /** Its runs have other macros than the process that wrote the record of the host. */
  isDisputed?: true;
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
 * Computes, once for each snapshot, the shares of all resources that are leased, waited for or configured, grouped by
 * host. A resource belongs to a host if a configuration with macros (`FQDN_cpu`) defines it for the host, if its name
 * contains the full host name, or if its name contains the short host name and all its tickets are from that host.
 */
export const computeShares = memoizeWeakly((snapshot: ShareSnapshot): ResourceShares => {
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
});

function findOwnerByName(
  name: string,
  queue: NamedQueue | undefined,
  isHost: (host: string) => boolean,
): HostResource | undefined {
  const full = findHostInName(name, (host) => host.includes(".") && isHost(host));
  if (full !== undefined) return full;
  const [host, ...more] = queue === undefined ? [] : computeQueueTally(queue).hosts;
  if (host === undefined || more.length > 0) return undefined;
  const label = host.replace(/\..*$/s, "");
  const brief = findHostInName(name, (word) => word === label);
  return brief && { host, short: brief.short };
}

function computeShare(
  snapshot: ShareSnapshot,
  name: string,
  queue: NamedQueue | undefined,
  owned: HostResource | undefined,
): OrderedShare {
  const tally = queue === undefined ? undefined : computeQueueTally(queue);
  const config = snapshot.resources.get(name)?.value ?? owned?.config;
  return {
    name,
    short: owned?.short ?? name,
    ...findResourceTotal(snapshot, name, tally),
    used: tally?.used ?? 0,
    waiting: tally?.waiting ?? 0,
    ...(owned?.template !== undefined && { template: owned.template }),
    formula: owned?.formula,
    order: config?.order ?? Infinity,
  };
}

function sortShares(shares: OrderedShare[]): ResourceShare[] {
  shares.sort((a, b) => (a.order !== b.order ? a.order - b.order : a.short < b.short ? -1 : 1));
  return shares.map(({ order: _, ...share }) => share);
}

/** What the entries of a queue add up to. */
export interface QueueTally {
  /** Units held. */
  used: number;
  holders: number;
  waiting: number;
  /** When the longest wait began; undefined if no ticket states it. */
  since: WallTime | undefined;
  /** The same for the longest hold. */
  heldSince: WallTime | undefined;
  /** As the first readable ticket states. */
  total: number | undefined;
  /** The last entry, if its ticket can be read. */
  last: QueueEntry | undefined;
  /** Canonical host names of its tickets; empty for a lock. */
  hosts: readonly string[];
}

/** Adds up the entries of a queue, once while it does not change: it may have many thousand entries. */
export const computeQueueTally = memoizeWeakly(({ kind, entries }: NamedQueue): QueueTally => {
  const hosts = new Set<string>();
  let [waiting, since, heldSince] = [0, Infinity, Infinity];
  for (const entry of entries) {
    const { ticket } = entry;
    if (ticket !== undefined && kind === "resource") hosts.add(ticket.host);
    if (isHolding(entry)) heldSince = Math.min(heldSince, ticket?.grantedAt ?? heldSince);
    else {
      waiting += 1;
      since = Math.min(since, ticket?.enqueuedAt ?? since);
    }
  }
  return {
    used: sumHeldUnits(entries.filter(isHolding)),
    holders: entries.length - waiting,
    waiting,
    since: Number.isFinite(since) ? since : undefined,
    heldSince: Number.isFinite(heldSince) ? heldSince : undefined,
    total: entries.find(({ ticket }) => ticket !== undefined)?.ticket?.total,
    last: entries.at(-1)?.ticket && entries.at(-1),
    hosts: [...new Set([...hosts].map(canonicalizeHost))],
  };
});

/** Part of the units from which a resource is nearly full. */
const NEARLY_FULL_SHARE = 0.8;

/** Returns the tone of a share: amber if it is nearly full or waited for, red if it is full and waited for. */
export function getShareTone({
  used,
  total,
  waiting,
}: Pick<ResourceShare, "used" | "total" | "waiting">): Tone {
  const part = total === undefined || total <= 0 ? 0 : used / total;
  if (part > 1 || (part === 1 && waiting > 0)) return "problem";
  if (waiting > 0 || part >= NEARLY_FULL_SHARE) return "waiting";
  return used > 0 ? "held" : "free";
}

/** Returns the resource with the largest part in use. */
export function findFullestShare(shares: readonly ResourceShare[]): ResourceShare | undefined {
  const computePart = ({ used, total }: ResourceShare) =>
    total === undefined ? 0 : used / Math.max(1, total);
  return shares.reduce<ResourceShare | undefined>(
    (most, share) => (most === undefined || computePart(share) > computePart(most) ? share : most),
    undefined,
  );
}

const BAR_CELLS = 4;

/**
 * Renders the used share as a bar: `▇▇▇▁`. The bar is empty only for no use, and full only for full use.
 * @param signs  a full cell and an empty one, each one column wide
 * @returns spaces if the total is not known
 */
export function renderShareBar(
  { used, total }: Share,
  [full, empty]: readonly [string, string],
  width = BAR_CELLS,
): string {
  if (total === undefined || total <= 0) return " ".repeat(width);
  const least = used > 0 ? 1 : 0;
  const most = used < total ? width - 1 : width;
  const cells = Math.min(most, Math.max(least, Math.round((width * used) / total)));
  return full.repeat(cells) + empty.repeat(width - cells);
}

interface HostResource {
  /** Canonical host name. */
  host: string;
  /** The name of the configuration for all hosts, if there is one: `FQDN_mem`. */
  template?: string;
  /** Its name without the host: `cpu` of `web1.example.com_cpu`. */
  short: string;
  /** Units on the host, as its own configuration or the one for all hosts gives them with the macros of its last record. */
  total?: number | undefined;
  /** How the total is computed there: `23 = int(24105/1024)` or `8 = CPU`, or why it cannot be; undefined without a total. */
  formula?: string | undefined;
  /** The configuration for all hosts, if there is one. */
  config?: ResourceConfig | undefined;
  /** `mod_revision` of the configuration that has the total. */
  revision?: bigint;
}

/** The resources of each host, as known from names and configurations. */
interface HostResources {
  /** Host resources from configurations with macros, by name. Includes resources that were never leased. */
  readonly configured: ReadonlyMap<string, HostResource>;
  /** Names of configurations that contain host macros. They are templates, not resources. */
  readonly templates: ReadonlySet<string>;
}

/** Placeholder for the host name in a resource name. No resource name contains a control character. */
const HOST_PLACEHOLDER = "\u0001";

type ResourceSnapshot = Pick<Snapshot, "resources" | "hosts">;

/** Finds the resources that templates such as `FQDN_cpu` define on every known host. */
function findHostResources({ hosts, resources }: ResourceSnapshot): HostResources {
  return getTemplateExpander(hosts)(resources);
}

/** Queues change much more often than hosts and resources. */
const getTemplateExpander = memoizeWeakly((hosts: Snapshot["hosts"]) =>
  memoizeWeakly((resources: Snapshot["resources"]) => expandTemplates(resources, hosts)),
);

function expandTemplates(resources: Snapshot["resources"], hosts: Snapshot["hosts"]): HostResources {
  const configured = new Map<string, HostResource>();
  const templates = new Set<string>();
  const shared = new Set<string>();
  const named = [...resources].filter(([name]) => /[A-Z]/.test(name));
  for (const record of hosts.values()) {
    for (const [template, common] of named) {
      const short = findShortName(template, record);
      if (short === undefined) continue;
      templates.add(template);
      const { expand, lookup } = getMacroPair(record).here;
      const name = expand(template);
      // Hosts with the same short name in different domains share one `HOST_cpu`: it belongs to neither.
      if (configured.has(name)) shared.add(name);
      const own = resources.get(name);
      const source = own?.value?.total === undefined ? common : own;
      const { total, formula } = computeTotal(source.value, lookup);
      configured.set(name, {
        host: record.fqdn,
        template,
        short,
        config: common.value,
        total,
        formula: source === own && formula !== undefined ? `${formula}, of its own` : formula,
        revision: source.modRevision,
      });
    }
  }
  for (const name of shared) configured.delete(name);
  return { configured, templates };
}

/** Builds the macros of a host record, once while it does not change: each set needs a new regular expression. */
const getMacroPair = memoizeWeakly((record: HostRecord): { here: Macros; anywhere: Macros } => {
  const { fqdn, cpu = Number.NaN, memMb = Number.NaN } = record; // NaN: no total can be computed
  const facts = { fqdn, host: fqdn.replace(/\..*$/s, ""), cpu, memMb, macros: record.macros };
  return {
    here: buildValidMacros(facts),
    anywhere: buildValidMacros({ ...facts, fqdn: HOST_PLACEHOLDER, host: HOST_PLACEHOLDER }),
  };
});

/** Builds macros. Ignores the macros of the record if they are invalid, because any program may have written it. */
function buildValidMacros(facts: MacroFacts): Macros {
  try {
    return createMacros(facts);
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    return createMacros({ ...facts, macros: {} });
  }
}

/** Returns the template name without its host macros; undefined if it has none, or consists only of them. */
function findShortName(template: string, record: HostRecord): string | undefined {
  const name = getMacroPair(record).anywhere.expand(template);
  return name.includes(HOST_PLACEHOLDER) ? removeHost(name, HOST_PLACEHOLDER) : undefined;
}

function computeTotal(
  config: ResourceConfig | undefined,
  lookup: Macros["lookup"],
): Pick<HostResource, "total" | "formula"> {
  if (config?.total === undefined) return {};
  const total = evaluateUnits(config.total, lookup);
  if ("fault" in total) return { formula: total.fault };
  const value = String(total.value);
  const text = substituteMacros(config.total, lookup);
  // A macro alone says more than its value.
  const formula = text === value ? config.total : text;
  return { total: total.value, formula: formula === value ? value : `${value} = ${formula}` };
}

/** The units of a resource. */
interface ResourceTotal {
  /** Undefined if neither the configuration nor a ticket states it. */
  total: number | undefined;
  /** Its runs have other macros than the process that wrote the record of the host. */
  isDisputed?: true;
}

/**
 * Finds the total of a resource, for all pages: a configured number; else what the record of its host gives; else what a ticket
 * states. Two processes of a host may have different macros, and the last one that wrote the record need not be a run. A ticket
 * from before the configuration was written says nothing about the macros of its run.
 */
export function findResourceTotal(
  snapshot: ResourceSnapshot,
  name: string,
  tally: QueueTally | undefined,
): ResourceTotal {
  const plain = findPlainTotal(snapshot, name);
  if (plain !== undefined) return { total: plain };
  const { host, formula, total, revision = 0n } = findHostResource(snapshot, name) ?? {};
  const { ticket, createRevision = 0n } = tally?.last ?? {};
  const isRecent =
    ticket !== undefined && createRevision > revision && canonicalizeHost(ticket.host) === host;
  if (formula === undefined || !isRecent || ticket.total === total) return { total: total ?? tally?.total };
  return { total: total ?? ticket.total, isDisputed: true };
}

/** Lists the resources whose total the processes of a host dispute, by name. */
export function listDisputedResources(snapshot: ShareSnapshot): { host: string; name: string }[] {
  return [...findHostResources(snapshot).configured].flatMap(([name, { host }]) => {
    const queue = snapshot.queues.get(buildQueueId("resource", name));
    const isDisputed = queue && findResourceTotal(snapshot, name, computeQueueTally(queue)).isDisputed;
    return isDisputed ? [{ host, name }] : [];
  });
}

/** Finds the host of a resource that a configuration with macros defines, and how its total is computed there. */
export function findHostResource(snapshot: ResourceSnapshot, name: string): HostResource | undefined {
  return findHostResources(snapshot).configured.get(name);
}

/** Whether a resource is a name with macros that stands for one resource on each host: `FQDN_mem`. */
export function isTemplate(snapshot: ResourceSnapshot, name: string): boolean {
  return findHostResources(snapshot).templates.has(name);
}

/** Lists the names with host macros, in the configured order, then by name. */
export function listTemplates(snapshot: ResourceSnapshot): string[] {
  const getOrder = (name: string) => snapshot.resources.get(name)?.value?.order ?? Infinity;
  return [...findHostResources(snapshot).templates].sort((a, b) => {
    const [first, second] = [getOrder(a), getOrder(b)];
    return first === second ? (a < b ? -1 : 1) : first - second;
  });
}

/** A resource that a template defines for a host, and its use. */
export interface TemplateShare extends HostResource, ResourceTotal {
  name: string;
  total: number | undefined;
  used: number;
  waiting: number;
  /** When the longest wait began, ms since the epoch. */
  since: WallTime | undefined;
}

/** Lists what a template defines on each host, by host. @param findTally  finds the tally of the queue of a resource */
export function listTemplateShares(
  snapshot: ResourceSnapshot,
  template: string,
  findTally: (name: string) => QueueTally | undefined,
): TemplateShare[] {
  const own = [...findHostResources(snapshot).configured].filter(([, one]) => one.template === template);
  const shares = own.map(([name, resource]): TemplateShare => {
    const tally = findTally(name);
    const { used = 0, waiting = 0, since } = tally ?? {};
    return { ...resource, name, used, waiting, since, ...findResourceTotal(snapshot, name, tally) };
  });
  return shares.sort((a, b) => (a.host < b.host ? -1 : 1));
}

/** Removes the host and its separators from a name; undefined if nothing is left. */
function removeHost(name: string, host: string): string | undefined {
  const parts = name.split(host).map((part) => part.replace(/^[\s_/:.,@#=-]+|[\s_/:.,@#=-]+$/g, ""));
  const rest = parts.filter(Boolean).join("_");
  return rest === "" ? undefined : rest;
}

/**
 * Finds a host name in a resource name, as in `web1.example.com_cpu` or `disk:web1.example.com`.
 * @param isHost  receives canonical host names
 */
function findHostInName(
  name: string,
  isHost: (host: string) => boolean,
): { host: string; short: string } | undefined {
  for (const [word] of name.matchAll(/[A-Za-z0-9.-]+/g)) {
    for (const candidate of listCandidates(word)) {
      const host = canonicalizeHost(candidate);
      const short = isHost(host) ? removeHost(name, candidate) : undefined;
      if (short !== undefined) return { host, short };
    }
  }
  return undefined;
}

/** Maximum number of parts of a word that are examined. Host names have fewer. */
const MOST_PARTS = 12;

/** Lists the parts of a word that may be host names, longest first. */
function listCandidates(word: string): string[] {
  const parts = word.split(/(?<=[.-])/).slice(0, MOST_PARTS);
  const found: string[] = [];
  for (let length = parts.length; length > 0; length -= 1) {
    for (let at = 0; at + length <= parts.length; at += 1) {
      found.push(
        parts
          .slice(at, at + length)
          .join("")
          .replace(/[.-]+$/, ""),
      );
    }
  }
  return found;
}
