import { ConfigError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import { type Groups, groupsOf, membership, parseGroup } from "../../fleet/groups.ts";
import { applies, type Drain, drainOf, hasEnded, type Reach } from "../../protocol/drain.ts";
import type { Basis } from "../../protocol/guards.ts";
import type { Keys } from "../../protocol/keys.ts";
import type { KeyValue, Op, OpResult } from "../../protocol/txn.ts";
import type { ClaimPorts, ClaimRequest, LeaseWish } from "./request.ts";

/** What operators have set that a run depends on, as it stood at one revision. */
export interface Situation {
  /** 0n: nothing was read, and nothing is assumed to be there. */
  revision: bigint;
  drains: readonly Drain[];
  groups: Groups;
  /** Configuration keys of groups and of the run's resources that exist. */
  config: ReadonlyMap<string, KeyValue>;
}

export const UNKNOWN: Situation = { revision: 0n, drains: [], groups: new Map(), config: new Map() };

/** The reads that make a situation; one result each in `situationFrom`. */
export function situationReads(keys: Keys, request: ClaimRequest): Op[] {
  const configs = request.leases.flatMap((lease) => configKeys(keys, lease));
  return [
    { op: "range", ...keys.drains() },
    { op: "range", ...keys.groups() },
    ...[...new Set(configs)].map((key): Op => ({ op: "range", key })),
  ];
}

export function situationFrom(keys: Keys, revision: bigint, results: readonly OpResult[]): Situation {
  const [drains = [], groups = [], ...configs] = results.map((one) => (one.op === "range" ? one.kvs : []));
  return {
    revision,
    drains: drains.flatMap((kv) => drainOf(keys, kv) ?? []),
    groups: groupsFrom(keys, groups),
    config: new Map([...groups, ...configs.flat()].map((kv) => [kv.key, kv])),
  };
}

export function groupsFrom(keys: Keys, kvs: readonly KeyValue[]): Groups {
  return new Map(kvs.flatMap((kv) => namedGroup(keys, kv)));
}

function namedGroup(keys: Keys, kv: KeyValue): [string, readonly string[]][] {
  const parsed = keys.parse(kv.key);
  return parsed.kind === "group" ? [[parsed.name, parseGroup(kv.value) ?? []]] : [];
}

function configKeys(keys: Keys, lease: LeaseWish): string[] {
  const names = lease.template === undefined ? [lease.resource] : [lease.resource, lease.template];
  return names.map((name) => keys.resourceConfig(name));
}

/** What a situation means for a run. */
export type Outlook =
  | { kind: "open"; basis: Basis; totals: readonly ResourceTotal[] }
  | { kind: "drained"; drains: readonly Drain[]; basis: Basis }
  | { kind: "outside"; group: string };

export interface ResourceTotal {
  lease: LeaseWish;
  /** What operators set. */
  configured: number | undefined;
  /** What this run states in its ticket. */
  total: number;
}

/**
 * @param wall  wall clock, ms since the epoch
 * @throws ConfigError when totals disagree or are unknown, or the group does not exist
 */
export function outlook(
  ports: ClaimPorts,
  request: ClaimRequest,
  situation: Situation,
  wall: number,
): Outlook {
  const { keys } = ports;
  const path = groupPath(request, situation.groups);
  if (path === undefined) return { kind: "outside", group: request.group ?? "" };
  const drains = situation.drains.filter((drain) => !hasEnded(drain, wall));
  const groupsMatter = drains.some(({ scope }) => scope === "group");
  const totals = request.leases.map((lease) => resourceTotal(ports, request, situation, lease));
  const used = [
    ...membershipKeys(keys, request, path),
    ...request.leases.flatMap((lease) => configKeys(keys, lease)),
  ];
  const config = [...new Set(used)].map((key) => ({
    key,
    modRevision: situation.config.get(key)?.modRevision ?? 0n,
  }));
  const basis = { revision: situation.revision, groupsMatter, config };
  const reach = reachOf(request, groupsMatter ? groupsOf(situation.groups, request.identity.host) : []);
  const applying = drains.filter((one) => applies(one, reach));
  return applying.length === 0
    ? { kind: "open", basis, totals }
    : { kind: "drained", drains: applying, basis };
}

/** Everything of a run that a drain can name. */
export function reachOf(request: ClaimRequest, groups: readonly string[]): Reach {
  return {
    ...(request.lock !== undefined && { lock: request.lock }),
    resources: request.leases.map(({ resource }) => resource),
    host: request.identity.host,
    groups,
  };
}

/** The groups that prove membership; empty when none is asked for, undefined when the host is in none of them. */
function groupPath(request: ClaimRequest, groups: Groups): readonly string[] | undefined {
  if (request.group === undefined) return [];
  return membership(groups, request.group, request.identity.host);
}

/** What membership rests on: the groups on the path, and that the host's name is no group's. */
function membershipKeys(keys: Keys, request: ClaimRequest, path: readonly string[]): string[] {
  return request.group === undefined ? [] : [...path, request.identity.host].map(keys.group);
}

function resourceTotal(
  ports: ClaimPorts,
  { isKnownOnly }: ClaimRequest,
  situation: Situation,
  lease: LeaseWish,
): ResourceTotal {
  const kvs = configKeys(ports.keys, lease).flatMap((key) => situation.config.get(key) ?? []);
  if (isKnownOnly && kvs.length === 0) throw unknownResource(lease.resource);
  const configured = firstTotal(ports, kvs);
  const total = configured ?? lease.total;
  const resource = quoted(lease.resource);
  if (total === undefined) {
    throw new ConfigError(
      `resource ${resource} has no total; say it with --lease ${lease.resource}=${lease.count}:TOTAL, ` +
        `or for every run with: signalbox resource set ${lease.resource} TOTAL`,
    );
  }
  if (lease.total !== undefined && lease.total !== total) {
    throw new ConfigError(
      `resource ${resource} has a configured total of ${total}, the command line says ${lease.total}; ` +
        `write ${total} in --lease, or change what is configured with: signalbox resource set`,
    );
  }
  if (lease.count > total) throw overTotal(lease.resource, lease.count, total);
  return { lease, configured, total };
}

/** Of the resource's own configuration; where that states none, of the one that serves all hosts. */
function firstTotal(ports: ClaimPorts, kvs: readonly KeyValue[]): number | undefined {
  for (const { value } of kvs) {
    const total = ports.evaluateTotal(value);
    if (total !== undefined) return total;
  }
  return undefined;
}

function unknownResource(resource: string): ConfigError {
  return new ConfigError(
    `resource ${quoted(resource)} is none that is configured; add it with: signalbox resource set, or signalbox import`,
  );
}

/** A claim that can never be granted, and would stop its queue for ever. */
export function overTotal(resource: string, count: number, total: number): ConfigError {
  return new ConfigError(
    `${count} units of resource ${quoted(resource)} are asked for, but there are only ${total}`,
  );
}
