import { type Configuration, normalMembers, normalResource } from "../../fleet/configuration.ts";
import type { Kept, Picture } from "../picture.ts";

/** What is configured, as far as it can be read. */
export function configurationOf(picture: Pick<Picture, "groups" | "resources">): Configuration {
  return {
    groups: readable(picture.groups, normalMembers),
    resources: readable(picture.resources, normalResource),
  };
}

function readable<T>(kept: ReadonlyMap<string, Kept<T>>, normal: (value: T) => T): Map<string, T> {
  return new Map(
    [...kept].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, normal(value)] as const])),
  );
}

/** What stands in the configuration and cannot be read: for runs it is not there, or a fault. */
export function malformedIn(
  picture: Pick<Picture, "groups" | "resources">,
): { kind: "group" | "resource"; name: string; fault: string }[] {
  const faults = (kind: "group" | "resource", kept: ReadonlyMap<string, Kept<unknown>>) =>
    [...kept].flatMap(([name, { fault }]) => (fault === undefined ? [] : [{ kind, name, fault }]));
  return [...faults("group", picture.groups), ...faults("resource", picture.resources)];
}
