import { SignalboxError } from "../../base/errors.ts";
import { evaluateUnits } from "../../fleet/arithmetic.ts";
import { canonicalHost } from "../../fleet/groups.ts";
import type { HostRecord } from "../../fleet/host-record.ts";
import { type MacroFacts, type Macros, macrosOf } from "../../fleet/macros.ts";
import type { ResourceConfig } from "../../fleet/resources.ts";
import type { Picture } from "../picture.ts";

/** A resource that belongs to one host. */
export interface Owned {
  /** As hosts are compared. */
  host: string;
  /** Its name without the host: `cpu` of `web1.example.com_cpu`. */
  short: string;
  /** Units there, where a configuration for all hosts says so. */
  total: number | undefined;
  /** What is configured for all hosts, where it is. */
  config: ResourceConfig | undefined;
}

/** Which resources belong to which host, as far as names and configurations tell. */
export interface Owners {
  /** Resources of hosts that follow from configurations with macros, by name, whether anybody has ever leased them or not. */
  readonly configured: ReadonlyMap<string, Owned>;
  /** Configurations that are of no resource themselves: their names hold a host's macros. */
  readonly templates: ReadonlySet<string>;
}

/** Stands in a name where the host's own name goes: no name holds a control character. */
const HOLE = "\u0001";

type Sight = Pick<Picture, "resources" | "hosts">;

/** The last answer for some hosts: queues change far more often than these. */
const answered = new WeakMap<Picture["hosts"], { resources: Picture["resources"]; owners: Owners }>();

/** What `FQDN_cpu` and the like are on every host that is known. */
export function ownersIn(sight: Sight): Owners {
  const known = answered.get(sight.hosts);
  if (known?.resources === sight.resources) return known.owners;
  const owners = expanded(sight);
  answered.set(sight.hosts, { resources: sight.resources, owners });
  return owners;
}

function expanded({ resources, hosts }: Sight): Owners {
  const configured = new Map<string, Owned>();
  const templates = new Set<string>();
  const shared = new Set<string>();
  const named = [...resources].filter(([name]) => /[A-Z]/.test(name));
  for (const record of hosts.values()) {
    for (const [template, { value: config }] of named) {
      const short = shortOf(template, record);
      if (short === undefined) continue;
      templates.add(template);
      const { expand, lookup } = macros(record);
      const name = expand(template);
      // Two hosts of different domains have one `HOST_cpu` together: it is neither's.
      if (configured.has(name)) shared.add(name);
      else configured.set(name, { host: record.fqdn, short, total: totalOf(config, lookup), config });
    }
  }
  for (const name of shared) configured.delete(name);
  return { configured, templates };
}

/** Macros of hosts that have said nothing new: to make them takes a pattern each. */
const made = new WeakMap<HostRecord, { here: Macros; anywhere: Macros }>();

function both(record: HostRecord): { here: Macros; anywhere: Macros } {
  const known = made.get(record);
  if (known !== undefined) return known;
  const { fqdn, cpu = Number.NaN, memMb = Number.NaN } = record; // not a number: no total follows from it
  const facts = { fqdn, host: fqdn.replace(/\..*$/s, ""), cpu, memMb, macros: record.macros };
  const pair = { here: sound(facts), anywhere: sound({ ...facts, fqdn: HOLE, host: HOLE }) };
  made.set(record, pair);
  return pair;
}

const macros = (record: HostRecord): Macros => both(record).here;

/** Anybody can have put the record: where its own macros are none, it has none. */
function sound(facts: MacroFacts): Macros {
  try {
    return macrosOf(facts);
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    return macrosOf({ ...facts, macros: {} });
  }
}

/** Undefined where the name says nothing of the host, or nothing else. */
function shortOf(template: string, record: HostRecord): string | undefined {
  const name = both(record).anywhere.expand(template);
  return name.includes(HOLE) ? without(name, HOLE) : undefined;
}

function totalOf(config: ResourceConfig | undefined, lookup: Macros["lookup"]): number | undefined {
  if (config?.total === undefined) return undefined;
  const total = evaluateUnits(config.total, lookup);
  return "fault" in total ? undefined : total.value;
}

/** The rest of a name, with what joined it to the host taken away; undefined where nothing is left. */
function without(name: string, host: string): string | undefined {
  const parts = name.split(host).map((part) => part.replace(/^[\s_/:.,@#=-]+|[\s_/:.,@#=-]+$/g, ""));
  const rest = parts.filter(Boolean).join("_");
  return rest === "" ? undefined : rest;
}

/**
 * The host whose name stands in a resource's name, as in `web1.example.com_cpu` or `disk:web1.example.com`.
 * @param isHost  told names as hosts are compared
 */
export function hostInName(
  name: string,
  isHost: (host: string) => boolean,
): { host: string; short: string } | undefined {
  for (const [word] of name.matchAll(/[A-Za-z0-9.-]+/g)) {
    for (const candidate of candidatesIn(word)) {
      const host = canonicalHost(candidate);
      const short = isHost(host) ? without(name, candidate) : undefined;
      if (short !== undefined) return { host, short };
    }
  }
  return undefined;
}

/** Parts of a word that end where names of hosts may end, the longest first. More than these nobody joins with dots. */
const MOST_PARTS = 12;

function candidatesIn(word: string): string[] {
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
