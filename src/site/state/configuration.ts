import { memoize } from "../../core/base/memoize.ts";
import { findMacroFault } from "../../core/base/text.ts";
import { evaluateUnits } from "../../core/fleet/arithmetic.ts";
import {
  type Configuration,
  normalizeMembers,
  normalizeResource,
  type ResourceChange,
} from "../../core/fleet/configuration.ts";
import type { HostRecord } from "../../core/fleet/host-record.ts";
import { createMacros, type Macros } from "../../core/fleet/macros.ts";
import type { ResourceConfig } from "../../core/fleet/resources.ts";
import type { Snapshot, StoredValue } from "./snapshot.ts";

/** Builds the configuration from all values that can be read. */
export function buildConfiguration(snapshot: Snapshot): Configuration {
  return {
    groups: selectReadable<readonly string[]>(snapshot.groups, normalizeMembers),
    resources: selectReadable(snapshot.resources, normalizeResource),
  };
}

function selectReadable<T>(
  kept: ReadonlyMap<string, StoredValue<T>>,
  normal: (value: T) => T,
): Map<string, T> {
  return new Map(
    [...kept].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, normal(value)] as const])),
  );
}

/** Lists configuration values that cannot be read. Runs treat them as missing or as an error. */
export function listMalformedConfig(
  snapshot: Snapshot,
): { kind: "group" | "resource"; name: string; fault: string }[] {
  const listFaults = (kind: "group" | "resource", kept: ReadonlyMap<string, StoredValue<unknown>>) =>
    [...kept].flatMap(([name, { fault }]) => (fault === undefined ? [] : [{ kind, name, fault }]));
  return [...listFaults("group", snapshot.groups), ...listFaults("resource", snapshot.resources)];
}

/** A configured total on one host: undefined if not configured, `unknown` if its macros are not known. */
export type HostTotal = number | "unknown" | undefined;

type ResourceConfigs = ReadonlyMap<string, ResourceConfig>;

/** Builds the macros of a host from its last record. `cpu` and `memMb` are NaN (unknown) if the record lacks them. */
export function buildHostMacros(fqdn: string, record: HostRecord | undefined): Macros {
  const { cpu = Number.NaN, memMb = Number.NaN, macros = {} } = record ?? {};
  const sound = Object.entries(macros).filter(([name, value]) => findMacroFault(name, value) === undefined);
  const facts = { fqdn, host: fqdn.replace(/\..*$/s, ""), cpu, memMb, macros: Object.fromEntries(sound) };
  return createMacros(facts);
}

/**
 * Creates a lookup for the new total of a resource on a host. It applies the same rule as runs: the configuration of
 * the resource itself, otherwise the one whose name expands to it on the host (`FQDN_mem`).
 * @returns a function that returns undefined if the changes do not affect the total
 */
export function createTotalLookup(
  snapshot: Snapshot,
  changes: readonly ResourceChange[],
): (resource: string, host: string) => { after: HostTotal } | undefined {
  const before = new Map(
    [...snapshot.resources].flatMap(([name, { value }]) => (value ? [[name, value]] : [])),
  );
  const after = new Map(before);
  for (const change of changes) {
    if (change.after === undefined) after.delete(change.name);
    else after.set(change.name, change.after);
  }
  const templates = [...new Set([...before.keys(), ...after.keys()])].filter((name) => /[A-Z]/.test(name));
  const hosts = memoize((host: string) => {
    const macros = buildHostMacros(host, snapshot.hosts.get(host));
    return { macros, meant: new Map(templates.map((name) => [macros.expand(name), name])) };
  });
  return (resource, host) => {
    const { macros, meant } = hosts(host);
    const names = [resource, meant.get(resource)].filter((name) => name !== undefined);
    const [old, now] = [findTotal(before, names), findTotal(after, names)];
    if (old === now) return undefined;
    const total = now === undefined ? undefined : evaluateUnits(now, macros.lookup);
    return { after: total === undefined ? undefined : "fault" in total ? "unknown" : total.value };
  };
}

function findTotal(configs: ResourceConfigs, names: readonly string[]): string | undefined {
  return names.map((name) => configs.get(name)?.total).find((total) => total !== undefined);
}
