import type { WallTime } from "../base/clock.ts";
import { ConfigError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";
import { findMembership, type Groups, listHostGroups, parseGroup } from "../fleet/groups.ts";
import type { LeaseSpec } from "../fleet/lease-spec.ts";
import { type Drain, hasEnded, isDrainApplicable, parseDrain, type RunTargets } from "../protocol/drain.ts";
import type { ReadBasis } from "../protocol/guards.ts";
import type { Keys } from "../protocol/keys.ts";
import { checkSchema, getNewerSchemaRange } from "../protocol/schema.ts";
import { type KeyValue, listKeyValues, type Op, type OpResult } from "../protocol/txn.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";

/** The settings of operators that a run depends on, at one revision. */
export interface ClaimInputs {
  /** 0n: nothing was read, and the store is assumed to be empty. */
  revision: bigint;
  drains: readonly Drain[];
  groups: Groups;
  /** Existing configuration keys of groups and of the run's resources. */
  config: ReadonlyMap<string, KeyValue>;
  /** Keys that require a schema version above that of this program. */
  newerSchemas: readonly string[];
}

export const EMPTY_INPUTS: ClaimInputs = {
  revision: 0n,
  drains: [],
  groups: new Map(),
  config: new Map(),
  newerSchemas: [],
};

/** Builds the reads for `parseClaimInputs`, which expects one result for each. */
export function buildInputReads(keys: Keys, request: ClaimRequest): Op[] {
  const configs = new Set(request.leases.flatMap((lease) => listConfigKeys(keys, lease)));
  return [
    { op: "range", ...keys.drains() },
    { op: "range", ...keys.groups() },
    { op: "range", ...getNewerSchemaRange(keys), keysOnly: true },
    ...Array.from(configs, (key): Op => ({ op: "range", key })),
  ];
}

export function parseClaimInputs(keys: Keys, revision: bigint, results: readonly OpResult[]): ClaimInputs {
  const [drains = [], groups = [], schemas = [], ...configs] = results.map(listKeyValues);
  return {
    revision,
    drains: drains.flatMap((kv) => parseDrain(keys, kv) ?? []),
    groups: parseGroups(keys, groups),
    config: new Map([...groups, ...configs.flat()].map((kv) => [kv.key, kv])),
    newerSchemas: schemas.map(({ key }) => key),
  };
}

export function parseGroups(keys: Keys, kvs: readonly KeyValue[]): Groups {
  return new Map(kvs.flatMap((kv) => parseNamedGroup(keys, kv)));
}

function parseNamedGroup(keys: Keys, kv: KeyValue): [string, readonly string[]][] {
  const parsed = keys.parse(kv.key);
  return parsed.kind === "group" ? [[parsed.name, parseGroup(kv.value) ?? []]] : [];
}

function listConfigKeys(keys: Keys, lease: LeaseSpec): string[] {
  const names = lease.template === undefined ? [lease.resource] : [lease.resource, lease.template];
  return names.map((name) => keys.resourceConfig(name));
}

/** Whether a run can claim under the given inputs. */
export type ClaimEligibility =
  | { kind: "open"; basis: ReadBasis; totals: readonly ResourceTotal[] }
  | { kind: "drained"; drains: readonly Drain[]; basis: ReadBasis }
  | { kind: "outside"; group: string };

export interface ResourceTotal {
  lease: LeaseSpec;
  /** The total that operators configured. */
  configured: number | undefined;
  /** The total that this run writes to its ticket. */
  total: number;
}

/**
 * Checks the schema version, group membership, drains and resource totals.
 * @throws ConfigError when this program is too old to write, totals disagree or are unknown, or the group does not exist
 */
export function computeEligibility(
  ports: ClaimPorts,
  request: ClaimRequest,
  inputs: ClaimInputs,
  wall: WallTime,
): ClaimEligibility {
  const { keys } = ports;
  checkSchema(keys, inputs.newerSchemas);
  const path = findGroupPath(request, inputs.groups);
  if (path === undefined) return { kind: "outside", group: request.group ?? "" };
  const drains = inputs.drains.filter((drain) => !hasEnded(drain, wall));
  const groupsMatter = drains.some(({ scope }) => scope === "group");
  const totals = request.leases.map((lease) => computeResourceTotal(ports, request, inputs, lease));
  const used = [
    ...listMembershipKeys(keys, request, path),
    ...request.leases.flatMap((lease) => listConfigKeys(keys, lease)),
  ];
  const config = [...new Set(used)].map((key) => ({
    key,
    modRevision: inputs.config.get(key)?.modRevision ?? 0n,
  }));
  const basis = { revision: inputs.revision, groupsMatter, config };
  const reach = buildDrainReach(
    request,
    groupsMatter ? listHostGroups(inputs.groups, request.identity.host) : [],
  );
  const applying = drains.filter((drain) => isDrainApplicable(drain, reach));
  return applying.length === 0
    ? { kind: "open", basis, totals }
    : { kind: "drained", drains: applying, basis };
}

/** Lists everything in a run that a drain can name. */
function buildDrainReach(request: ClaimRequest, groups: readonly string[]): RunTargets {
  return {
    locks: request.locks,
    resources: request.leases.map(({ resource }) => resource),
    host: request.identity.host,
    groups,
  };
}

/**
 * Returns the groups that prove membership: empty when the request names no group, undefined when the host is in none.
 */
function findGroupPath(request: ClaimRequest, groups: Groups): readonly string[] | undefined {
  if (request.group === undefined) return [];
  return findMembership(groups, request.group, request.identity.host);
}

/** Lists the keys that membership depends on: the groups on the path, and the key of a group with the host's name. */
function listMembershipKeys(keys: Keys, request: ClaimRequest, path: readonly string[]): string[] {
  return request.group === undefined ? [] : [...path, request.identity.host].map(keys.group);
}

function computeResourceTotal(
  ports: ClaimPorts,
  { isKnownOnly }: ClaimRequest,
  inputs: ClaimInputs,
  lease: LeaseSpec,
): ResourceTotal {
  const kvs = listConfigKeys(ports.keys, lease).flatMap((key) => inputs.config.get(key) ?? []);
  const resource = quoteText(lease.resource);
  if (isKnownOnly && kvs.length === 0) {
    throw new ConfigError(
      `resource ${resource} is not configured; add it with: signalbox resource set, or signalbox apply`,
    );
  }
  const configured = findFirstTotal(ports, kvs);
  const total = configured ?? lease.total;
  if (total === undefined) {
    throw new ConfigError(
      `resource ${resource} has no total; state it with --lease ${lease.resource}=${lease.count}:TOTAL, ` +
        `or for every run with: signalbox resource set ${lease.resource} TOTAL`,
    );
  }
  if (lease.total !== undefined && lease.total !== total) {
    throw new ConfigError(
      `resource ${resource} has a configured total of ${total}, but the command line states ${lease.total}; ` +
        `write ${total} in --lease, or change the configured total with: signalbox resource set`,
    );
  }
  if (lease.count > total) throw createOverTotalError(lease.resource, lease.count, total);
  return { lease, configured, total };
}

/** Uses the resource's own configuration first, then the configuration of its template, which applies to all hosts. */
function findFirstTotal(ports: ClaimPorts, kvs: readonly KeyValue[]): number | undefined {
  for (const { value } of kvs) {
    const total = ports.evaluateTotal(value);
    if (total !== undefined) return total;
  }
  return undefined;
}

/** Builds the error for a claim that can never be granted, and would block its queue forever. */
function createOverTotalError(resource: string, count: number, total: number): ConfigError {
  return new ConfigError(
    `${count} units of resource ${quoteText(resource)} are requested, but there are only ${total}`,
  );
}
