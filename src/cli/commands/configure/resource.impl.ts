import { UsageError } from "../../../core/base/errors.ts";
import { quoteShellWord } from "../../../core/base/shell.ts";
import { normalizeResource } from "../../../core/fleet/configuration.ts";
import { LONGEST_NOTE, type ResourceConfig } from "../../../core/fleet/resources.ts";
import { validateName } from "../../../core/protocol/names.ts";
import type { Snapshot } from "../../../site/state/snapshot.ts";
import { createActionCommand } from "../../frame/action.ts";
import type { ActionImplementation } from "../../frame/command.ts";
import type { ActionFlags } from "../../frame/command-line/flags.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import { changeConfigEntry, createTotalCheck, readSite } from "./change-site.ts";
import type { ResourceSetFlags } from "./resource.ts";

/** Fields that are not given stay unchanged. */
export const setResource = createResourceCommand<ResourceSetFlags>((context, name, snapshot) => {
  const [, total] = context.args;
  if (total === undefined && context.flags.note === undefined && context.flags.order === undefined)
    throw new UsageError(
      `TOTAL is missing: write signalbox resource set ${quoteShellWord(name.replace(/[=:]\d+$/, ""))} 10`,
    );
  const fault = total === undefined ? undefined : createTotalCheck(context, snapshot)(name, total);
  if (fault !== undefined) throw new UsageError(`total ${fault}`);
  const before = normalizeResource(snapshot.resources.get(name)?.value ?? {});
  const { note: oldNote, order: oldOrder, ...rest } = before;
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

/** Creates a command that changes one resource: `RESOURCE …`. @param updateConfig  computes the new configuration */
function createResourceCommand<F extends ActionFlags = ActionFlags>(
  updateConfig: (context: CommandContext<F>, name: string, snapshot: Snapshot) => ResourceConfig | undefined,
): ActionImplementation<F> {
  return createActionCommand<F>(async (context) => {
    const [given = ""] = context.args;
    const name = validateName("resource", given);
    const read = await readSite(context, new Set(["resources"]));
    const config = updateConfig(context, name, read.snapshot);
    const document = { resources: new Map([[name, config && { isWhole: true, config }]]) };
    return await changeConfigEntry(context, read, { kind: "resource", name, document });
  });
}
