import { type Configuration, normalizeMembers, normalizeResource } from "../../fleet/configuration.ts";
import type { Snapshot, StoredValue } from "../snapshot/snapshot.ts";

/** Builds the configuration from all values that can be read. */
export function buildConfiguration(snapshot: Pick<Snapshot, "groups" | "resources">): Configuration {
  return {
    groups: selectReadable(snapshot.groups, normalizeMembers),
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
  snapshot: Pick<Snapshot, "groups" | "resources">,
): { kind: "group" | "resource"; name: string; fault: string }[] {
  const listFaults = (kind: "group" | "resource", kept: ReadonlyMap<string, StoredValue<unknown>>) =>
    [...kept].flatMap(([name, { fault }]) => (fault === undefined ? [] : [{ kind, name, fault }]));
  return [...listFaults("group", snapshot.groups), ...listFaults("resource", snapshot.resources)];
}
