import { SignalboxError } from "../../base/errors.ts";
import { evaluateUnits } from "../../fleet/arithmetic.ts";
import { canonicalizeHost } from "../../fleet/groups.ts";
import type { HostRecord } from "../../fleet/host-record.ts";
import { createMacros, type MacroFacts, type Macros } from "../../fleet/macros.ts";
import type { ResourceConfig } from "../../fleet/resources.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** A resource that belongs to one host. */
export interface HostResource {
  /** Canonical host name. */
  host: string;
  /** Its name without the host: `cpu` of `web1.example.com_cpu`. */
  short: string;
  /** Units on the host, if a configuration for all hosts sets them. */
  total: number | undefined;
  /** The configuration for all hosts, if there is one. */
  config: ResourceConfig | undefined;
}

/** The resources of each host, as known from names and configurations. */
interface HostResources {
  /** Host resources from configurations with macros, by name. Includes resources that were never leased. */
  readonly configured: ReadonlyMap<string, HostResource>;
  /** Names of configurations that contain host macros. They are templates, not resources. */
  readonly templates: ReadonlySet<string>;
}

/** Placeholder for the host name in a resource name. No resource name contains a control character. */
const HOLE = "\u0001";

type ResourceSnapshot = Pick<Snapshot, "resources" | "hosts">;

/** Results by host map. Queues change much more often than hosts and resources. */
const cachedResources = new WeakMap<
  Snapshot["hosts"],
  { resources: Snapshot["resources"]; owners: HostResources }
>();

/** Finds the resources that templates such as `FQDN_cpu` define on every known host. */
export function findHostResources(snapshot: ResourceSnapshot): HostResources {
  const known = cachedResources.get(snapshot.hosts);
  if (known?.resources === snapshot.resources) return known.owners;
  const owners = expandTemplates(snapshot);
  cachedResources.set(snapshot.hosts, { resources: snapshot.resources, owners });
  return owners;
}

function expandTemplates({ resources, hosts }: ResourceSnapshot): HostResources {
  const configured = new Map<string, HostResource>();
  const templates = new Set<string>();
  const shared = new Set<string>();
  const named = [...resources].filter(([name]) => /[A-Z]/.test(name));
  for (const record of hosts.values()) {
    for (const [template, { value: config }] of named) {
      const short = findShortName(template, record);
      if (short === undefined) continue;
      templates.add(template);
      const { expand, lookup } = getHostMacros(record);
      const name = expand(template);
      // Hosts with the same short name in different domains share one `HOST_cpu`: it belongs to neither.
      if (configured.has(name)) shared.add(name);
      else configured.set(name, { host: record.fqdn, short, total: computeTotal(config, lookup), config });
    }
  }
  for (const name of shared) configured.delete(name);
  return { configured, templates };
}

/** Macros of unchanged host records: each set needs a new regular expression. */
const cachedMacros = new WeakMap<HostRecord, { here: Macros; anywhere: Macros }>();

function getMacroPair(record: HostRecord): { here: Macros; anywhere: Macros } {
  const known = cachedMacros.get(record);
  if (known !== undefined) return known;
  const { fqdn, cpu = Number.NaN, memMb = Number.NaN } = record; // NaN: no total can be computed
  const facts = { fqdn, host: fqdn.replace(/\..*$/s, ""), cpu, memMb, macros: record.macros };
  const pair = {
    here: buildValidMacros(facts),
    anywhere: buildValidMacros({ ...facts, fqdn: HOLE, host: HOLE }),
  };
  cachedMacros.set(record, pair);
  return pair;
}

const getHostMacros = (record: HostRecord): Macros => getMacroPair(record).here;

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
  return name.includes(HOLE) ? removeHost(name, HOLE) : undefined;
}

function computeTotal(config: ResourceConfig | undefined, lookup: Macros["lookup"]): number | undefined {
  if (config?.total === undefined) return undefined;
  const total = evaluateUnits(config.total, lookup);
  return "fault" in total ? undefined : total.value;
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
export function findHostInName(
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
