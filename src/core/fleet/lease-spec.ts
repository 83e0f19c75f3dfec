import { UsageError } from "../base/errors.ts";
import { findNameFault, type ParseResult, quoteText } from "../base/text.ts";
import { evaluateUnits } from "./arithmetic.ts";
import type { Macros } from "./macros.ts";

/** A lease requested by a run, with macros expanded. */
export interface LeaseSpec {
  resource: string;
  /** The name with macros, if it differs. The configuration under this name applies to all hosts. */
  template?: string;
  /** Units requested, a positive whole number. */
  count: number;
  /** Total units, as stated by the run. If omitted, operators must have configured the total. */
  total?: number;
}

/**
 * Maximum number of resources in one claim. A read needs up to four keys or ranges for each, and etcd allows 128
 * operations in one transaction.
 */
export const MAX_RESOURCES = 20;

const EXAMPLE = "--lease db=2:10, or --lease FQDN_mem='4:int(MEMMB/1024)'";

/**
 * Parses the leases of a command line, in the order in which the resources are first named.
 *
 * `RESOURCE=COUNT[:TOTAL]`. The first `=` ends the resource name, so that `db=2=10` is an error and not an unintended
 * resource. The first `:` after it ends the count. If a resource is named twice (after macro expansion), the result is
 * one lease with the sum of the counts.
 * @param specs  values of `--lease`, e.g. `FQDN_cpu=1:CPU`
 * @throws UsageError with the given value if it is malformed, totals differ, or the count exceeds the total
 */
export function parseLeases(specs: readonly string[], macros: Macros): LeaseSpec[] {
  const leases = new Map<string, LeaseSpec>();
  for (const spec of specs) {
    const lease = parseLease(spec, macros);
    leases.set(lease.resource, mergeLeases(leases.get(lease.resource), lease));
  }
  if (leases.size > MAX_RESOURCES) {
    throw new UsageError(`one run can lease at most ${MAX_RESOURCES} resources; got ${leases.size}`);
  }
  for (const lease of leases.values()) checkCount(lease);
  return [...leases.values()];
}

/** Returns the units of leases, by resource. */
export function toUnits(leases: readonly Pick<LeaseSpec, "resource" | "count">[]): Record<string, number> {
  return Object.fromEntries(leases.map(({ resource, count }) => [resource, count]));
}

function parseLease(spec: string, macros: Macros): LeaseSpec {
  const [, name, amount] = /^([^=]*)=(.*)$/s.exec(spec) ?? [];
  if (name === undefined || amount === undefined) throw createLeaseError(spec, `write it as ${EXAMPLE}`);
  const resource = macros.expand(name);
  const fault = findNameFault(resource);
  if (fault !== undefined) throw createLeaseError(spec, `the resource's name cannot be used: ${fault}`);
  // A literal name, such as that of `$(hostname -f)_cpu`, is the resource that is configured as FQDN_cpu.
  const template = resource === name ? macros.findTemplate(name) : name;
  const colon = amount.indexOf(":");
  const count = parseUnits(spec, "count", colon < 0 ? amount : amount.slice(0, colon), macros);
  return {
    resource,
    ...(template !== undefined && { template }),
    count,
    ...(colon >= 0 && { total: parseUnits(spec, "total", amount.slice(colon + 1), macros) }),
  };
}

function parseUnits(spec: string, what: string, text: string, macros: Macros): number {
  const result: ParseResult<number> =
    text.trim() === ""
      ? { fault: `it is missing; write it as ${EXAMPLE}` }
      : evaluateUnits(text, macros.lookup);
  if ("fault" in result) throw createLeaseError(spec, `${what}: ${result.fault}`);
  return result.value;
}

function mergeLeases(before: LeaseSpec | undefined, lease: LeaseSpec): LeaseSpec {
  if (before === undefined) return lease;
  const resource = quoteText(lease.resource);
  if (before.total !== undefined && lease.total !== undefined && before.total !== lease.total) {
    throw new UsageError(
      `--lease states two totals for resource ${resource}, ${before.total} and ${lease.total}; state the same one`,
    );
  }
  const count = before.count + lease.count;
  if (!Number.isSafeInteger(count))
    throw new UsageError(`--lease asks for too many units of resource ${resource}`);
  return { ...lease, ...before, count };
}

function checkCount({ resource, count, total }: LeaseSpec): void {
  if (total === undefined || count <= total) return;
  throw new UsageError(
    `--lease asks for ${count} units of resource ${quoteText(resource)}, but its total is ${total}: it could never be granted`,
  );
}

function createLeaseError(spec: string, why: string): UsageError {
  return new UsageError(`--lease ${quoteText(spec)}: ${why}`);
}
