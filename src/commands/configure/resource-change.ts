import { quoted } from "../../base/text.ts";
import { type ConfigChange, changesBetween } from "../../fleet/changes.ts";
import { normalResource } from "../../fleet/configuration.ts";
import type { ResourceConfig } from "../../fleet/resources.ts";
import type { Picture } from "../../model/picture.ts";
import { checkedName } from "../../protocol/names.ts";
import { pictureOf } from "../look.ts";
import type { Call, Execute } from "../spec.ts";
import { type Desk, withStore } from "../with-store.ts";
import { IMPACT_ROOMS } from "./configured.ts";
import { Reconfiguration } from "./configuring.ts";

/** What is to become of a resource's configuration. @throws UsageError */
export type ConfigAfter = (
  /** Undefined where it is not configured; empty where it cannot be read. */
  before: ResourceConfig | undefined,
  given: { call: Call; desk: Desk; name: string; picture: Picture },
) => ResourceConfig | undefined;

/** The work of a command that changes one resource: `RESOURCE …`. */
export function resourceCommand(configAfter: ConfigAfter): Execute {
  return withStore(async (call, world, desk) => {
    const [given = ""] = call.args;
    const name = checkedName("resource", given);
    const picture = await pictureOf(desk, IMPACT_ROOMS);
    const kept = picture.resources.get(name);
    const before = kept && normalResource(kept.value ?? {});
    const after = configAfter(before, { call, desk, name, picture });
    const nothing =
      before === undefined
        ? `resource ${quoted(name)} is not configured: nothing to change`
        : `resource ${quoted(name)} is so already: nothing to change`;
    const { code } = await new Reconfiguration(call, world, desk, {
      ...{ action: "resource", target: `resource ${name}`, picture, nothing },
      notes: kept?.fault === undefined ? [] : [`resource ${quoted(name)} could not be read: ${kept.fault}`],
      changes: changes(name, kept?.fault === undefined ? before : undefined, after, kept !== undefined),
    }).run();
    return code;
  });
}

function changes(
  name: string,
  before: ResourceConfig | undefined,
  after: ResourceConfig | undefined,
  isThere: boolean,
): ConfigChange[] {
  if (after === undefined) return isThere ? [{ kind: "resource", name, before, after }] : [];
  const one = (config: ResourceConfig | undefined) => ({
    groups: new Map<string, readonly string[]>(),
    resources: new Map(config === undefined ? [] : [[name, normalResource(config)]]),
  });
  return changesBetween(one(before), one(after));
}
