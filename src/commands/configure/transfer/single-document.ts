import { formatConfigDocument } from "../../../fleet/config-document.ts";
import { buildConfiguration } from "../../../model/config-impact/configuration.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";

/** The revision in a document is not compared: the same configuration has the same text at any time. */
const ANY_REVISION = 0n;

/** Formats the configuration of one group or resource as a document that `signalbox import` reads. */
export function formatSingleDocument(
  snapshot: Pick<Snapshot, "groups" | "resources">,
  kind: "group" | "resource",
  name: string,
): string {
  const { groups, resources } = buildConfiguration(snapshot);
  const isGroup = kind === "group";
  return formatConfigDocument(
    {
      groups: new Map(isGroup ? [[name, groups.get(name) ?? []]] : []),
      resources: new Map(isGroup ? [] : [[name, resources.get(name) ?? {}]]),
    },
    ANY_REVISION,
  );
}
