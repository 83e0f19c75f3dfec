import { evaluateUnits } from "../../fleet/arithmetic.ts";
import type { TotalCheck } from "../../fleet/document-reader.ts";
import { macrosOf } from "../../fleet/macros.ts";
import { macrosOn } from "../../model/configuring/totals.ts";
import type { Picture, Room } from "../../model/picture.ts";
import type { SeenKey } from "../../work/operate/configure.ts";
import { QUEUE_ROOMS } from "../look.ts";
import type { Desk } from "../with-store.ts";

/** What is configured, and nothing else. */
export const CONFIG_ROOMS: readonly Room[] = ["groups", "resourceConfigs"];

/** All that decides whom a change of the configuration hits. */
export const IMPACT_ROOMS: readonly Room[] = [...QUEUE_ROOMS, "hosts"];

/** Everything of the configuration that a picture has, readable or not. */
export function seenKeys({ groups, resources }: Pick<Picture, "groups" | "resources">): SeenKey[] {
  const seen = (kind: SeenKey["kind"], kept: ReadonlyMap<string, { modRevision: bigint }>) =>
    [...kept].map(([name, { modRevision }]) => ({ kind, name, modRevision }));
  return [...seen("group", groups), ...seen("resource", resources)];
}

/**
 * Whether a total means something: on this host, or, since others have macros of their own, on any that was ever seen.
 * What stands in etcd already is not questioned.
 */
export function totalCheck({ facts }: Pick<Desk, "facts">, picture: Picture): TotalCheck {
  return (resource, total) => {
    if (picture.resources.get(resource)?.value?.total === total.trim()) return undefined;
    const here = evaluateUnits(total, macrosOf(facts).lookup);
    if (!("fault" in here)) return undefined;
    const isFineSomewhere = [...picture.hosts].some(
      ([fqdn, record]) => !("fault" in evaluateUnits(total, macrosOn(fqdn, record).lookup)),
    );
    return isFineSomewhere ? undefined : here.fault;
  };
}
