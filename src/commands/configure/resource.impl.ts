import { UsageError } from "../../base/errors.ts";
import { normalizeResource } from "../../fleet/configuration.ts";
import { LONGEST_NOTE, type ResourceConfig } from "../../fleet/resources.ts";
import { validateName } from "../../protocol/names.ts";
import type { Snapshot } from "../../state/snapshot.ts";
import type { ActionImplementation } from "../command.ts";
import type { ActionFlags } from "../command-line/flags.ts";
import { createActionCommand } from "../print-outcome.ts";
import type { CommandContext } from "../store-command.ts";
import { changeConfigEntry, createTotalCheck, readSite } from "./change-site.ts";
import type { ResourceSetFlags } from "./resource.ts";

/** Computes the new configuration of a resource. @throws UsageError */
type ResourceUpdate<F> = (
  /** Undefined if the resource is not configured; empty if it cannot be read. */
  before: ResourceConfig | undefined,
  given: { context: CommandContext<F>; name: string; snapshot: Snapshot },
) => ResourceConfig | undefined;

/** Fields that are not given stay unchanged. */
export const setResource = createResourceCommand<ResourceSetFlags>((before, { context, name, snapshot }) => {
  const [, total] = context.args;
  const fault = total === undefined ? undefined : createTotalCheck(context, snapshot)(name, total);
  if (fault !== undefined) throw new UsageError(`total ${fault}`);
  const { note: oldNote, order: oldOrder, ...rest } = before ?? {};
  const { note = oldNote, order = oldOrder } = context.flags;
  if ((note?.length ?? 0) > LONGEST_NOTE)
    throw new UsageError(`--note must have at most ${LONGEST_NOTE} characters; got ${note?.length}`);
  return {
    ...rest,
    ...(total !== undefined && { total }),
    ...(typeof note === "string" && { note }),
    ...(typeof order === "number" && { order }),
  };
});

export const deleteResource = createResourceCommand(() => undefined);

/** Creates a command that changes one resource: `RESOURCE …`. */
function createResourceCommand<F extends ActionFlags = ActionFlags>(
  updateConfig: ResourceUpdate<F>,
): ActionImplementation<F> {
  return createActionCommand<F>(async (context) => {
    const [given = ""] = context.args;
    const name = validateName("resource", given);
    const read = await readSite(context, new Set(["resources"]));
    const { snapshot } = read;
    const kept = snapshot.resources.get(name);
    const before = kept && normalizeResource(kept.value ?? {});
    const config = updateConfig(before, { context, name, snapshot });
    const document = { resources: new Map([[name, config && { isWhole: true, config }]]) };
    return await changeConfigEntry(context, read, { kind: "resource", name, document });
  });
}
