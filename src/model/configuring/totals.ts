import { macroFault } from "../../base/text.ts";
import { evaluateUnits } from "../../fleet/arithmetic.ts";
import type { ResourceChange } from "../../fleet/changes.ts";
import type { HostRecord } from "../../fleet/host-record.ts";
import { type Macros, macrosOf } from "../../fleet/macros.ts";
import type { ResourceConfig } from "../../fleet/resources.ts";
import type { Picture } from "../picture.ts";

/** A configured total on one host: undefined where none is configured, `unknown` where its macros are not known here. */
export type TotalThere = number | "unknown" | undefined;

type Configs = ReadonlyMap<string, ResourceConfig>;

/** The macros of a host as it last said them; what it did not say is unknown. */
export function macrosOn(fqdn: string, record: HostRecord | undefined): Macros {
  const { cpu = Number.NaN, memMb = Number.NaN, macros = {} } = record ?? {};
  const sound = Object.entries(macros).filter(([name, value]) => macroFault(name, value) === undefined);
  const facts = { fqdn, host: fqdn.replace(/\..*$/s, ""), cpu, memMb, macros: Object.fromEntries(sound) };
  return macrosOf(facts);
}

/**
 * What becomes of a resource's total on a host, by the rule of runs: the resource's own configuration, else the one
 * whose name means it there (`FQDN_mem`).
 * @returns undefined where these changes do not touch it
 */
export function totalsOf(
  picture: Picture,
  changes: readonly ResourceChange[],
): (resource: string, host: string) => { after: TotalThere } | undefined {
  const before = new Map(
    [...picture.resources].flatMap(([name, { value }]) => (value ? [[name, value]] : [])),
  );
  const after = new Map(before);
  for (const change of changes) {
    if (change.after === undefined) after.delete(change.name);
    else after.set(change.name, change.after);
  }
  const templates = [...new Set([...before.keys(), ...after.keys()])].filter((name) => /[A-Z]/.test(name));
  const hosts = remembered((host) => {
    const macros = macrosOn(host, picture.hosts.get(host));
    return { macros, meant: new Map(templates.map((name) => [macros.expand(name), name])) };
  });
  return (resource, host) => {
    const { macros, meant } = hosts(host);
    const names = [resource, meant.get(resource)].filter((name) => name !== undefined);
    const [old, now] = [totalIn(before, names), totalIn(after, names)];
    if (old === now) return undefined;
    const total = now === undefined ? undefined : evaluateUnits(now, macros.lookup);
    return { after: total === undefined ? undefined : "fault" in total ? "unknown" : total.value };
  };
}

function totalIn(configs: Configs, names: readonly string[]): string | undefined {
  return names.map((name) => configs.get(name)?.total).find((total) => total !== undefined);
}

function remembered<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}
