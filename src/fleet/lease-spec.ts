import { UsageError } from "../base/errors.ts";
import { nameFault, type Parsed, quoted } from "../base/text.ts";
import { evaluateUnits } from "./arithmetic.ts";
import type { Macros } from "./macros.ts";

/** A lease as a run asks for it, macros expanded. */
export interface LeaseSpec {
  resource: string;
  /** The name before macros were expanded, where that differs: its configuration serves all hosts. */
  template?: string;
  /** Units, a positive whole number. */
  count: number;
  /** Units there are, as the one who asks says; where left out, operators must have set it. */
  total?: number;
}

/** Resources in one claim. A look reads up to four keys or ranges for each, and etcd allows 128 in one transaction. */
export const MAX_RESOURCES = 20;

const EXAMPLE = "--lease db=2:10, or --lease FQDN_mem='4:int(MEMMB/1024)'";

/**
 * The leases of a command line, in the order of their first naming.
 *
 * `RESOURCE=COUNT[:TOTAL]`. The first `=` ends the resource's name, so that `db=2=10` is an error and not a resource
 * that nobody else names; the first `:` after it ends the count. A resource named twice (after macros are expanded) is
 * one lease with the sum of the counts.
 * @param specs  values of `--lease`, e.g. `FQDN_cpu=1:CPU`
 * @throws UsageError with the value received, when one is malformed, totals disagree, or more is asked for than is there
 */
export function parseLeases(specs: readonly string[], macros: Macros): LeaseSpec[] {
  const leases = new Map<string, LeaseSpec>();
  for (const spec of specs) {
    const lease = parseLease(spec, macros);
    leases.set(lease.resource, sum(leases.get(lease.resource), lease));
  }
  if (leases.size > MAX_RESOURCES) {
    throw new UsageError(`${leases.size} resources are leased; one run can lease ${MAX_RESOURCES}`);
  }
  for (const lease of leases.values()) checkCount(lease);
  return [...leases.values()];
}

function parseLease(spec: string, macros: Macros): LeaseSpec {
  const [, name, amount] = /^([^=]*)=(.*)$/s.exec(spec) ?? [];
  if (name === undefined || amount === undefined) throw refused(spec, `write it as ${EXAMPLE}`);
  const resource = macros.expand(name);
  const fault = nameFault(resource);
  if (fault !== undefined) throw refused(spec, `the resource's name cannot be used: ${fault}`);
  const colon = amount.indexOf(":");
  const count = units(spec, "count", colon < 0 ? amount : amount.slice(0, colon), macros);
  return {
    resource,
    ...(resource !== name && { template: name }),
    count,
    ...(colon >= 0 && { total: units(spec, "total", amount.slice(colon + 1), macros) }),
  };
}

function units(spec: string, what: string, text: string, macros: Macros): number {
  const result: Parsed<number> =
    text.trim() === ""
      ? { fault: `it is missing; write it as ${EXAMPLE}` }
      : evaluateUnits(text, macros.lookup);
  if ("fault" in result) throw refused(spec, `${what}: ${result.fault}`);
  return result.value;
}

function sum(before: LeaseSpec | undefined, lease: LeaseSpec): LeaseSpec {
  if (before === undefined) return lease;
  const resource = quoted(lease.resource);
  if (before.total !== undefined && lease.total !== undefined && before.total !== lease.total) {
    throw new UsageError(
      `--lease names resource ${resource} with a total of ${before.total} and with one of ${lease.total}; there is only one`,
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
    `--lease asks for ${count} units of resource ${quoted(resource)}, but its total is ${total}: it could never be granted`,
  );
}

function refused(spec: string, why: string): UsageError {
  return new UsageError(`--lease ${quoted(spec)}: ${why}`);
}
