import { UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { type ConfigChange, computeConfigChanges } from "../../fleet/config-changes.ts";
import { LONGEST_NOTE } from "../../fleet/config-document-parser.ts";
import { compareByResourceOrder, normalizeResource } from "../../fleet/configuration.ts";
import type { ResourceConfig } from "../../fleet/resources.ts";
import { validateName } from "../../protocol/names.ts";
import { buildConfiguration, listMalformedConfig } from "../../state/configuration.ts";
import type { Snapshot } from "../../state/snapshot.ts";
import type { JsonFlags } from "../command-line/flags.ts";
import { formatJsonDocument } from "../json-output.ts";
import { createActionCommand } from "../print-outcome.ts";
import { createReadCommand, readSnapshot } from "../read-snapshot.ts";
import type { ActionImplementation, Call } from "../spec.ts";
import type { ActionContext } from "../store-command.ts";
import { renderTextTable } from "../table.ts";
import {
  CONFIG_COLLECTIONS,
  changeConfigEntry,
  createTotalCheck,
  IMPACT_COLLECTIONS,
} from "./config-change.ts";
import type { ResourceSetFlags } from "./resource.ts";

/** Computes the new configuration of a resource. @throws UsageError */
type ResourceUpdate = (
  /** Undefined if the resource is not configured; empty if it cannot be read. */
  before: ResourceConfig | undefined,
  given: { context: ActionContext; name: string; snapshot: Snapshot },
) => ResourceConfig | undefined;

/** Fields that are not given stay unchanged. */
export const setResource = createResourceCommand((before, { context, name, snapshot }) => {
  const { call } = context;
  const [, total] = call.args;
  const fault = total === undefined ? undefined : createTotalCheck(context, snapshot)(name, total);
  if (fault !== undefined) throw new UsageError(`total ${fault}`);
  const { order, ...rest } = { ...before, ...parseNoteFlag(call), ...(total !== undefined && { total }) };
  const place = parseOrderFlag(call, order);
  return { ...rest, ...(place !== undefined && { order: place }) };
});

export const deleteResource = createResourceCommand(() => undefined);

/** Creates a command that changes one resource: `RESOURCE …`. */
function createResourceCommand(updateConfig: ResourceUpdate): ActionImplementation {
  return createActionCommand(async (context) => {
    const [given = ""] = context.call.args;
    const name = validateName("resource", given);
    const snapshot = await readSnapshot(context, IMPACT_COLLECTIONS);
    const kept = snapshot.resources.get(name);
    const before = kept && normalizeResource(kept.value ?? {});
    const after = updateConfig(before, { context, name, snapshot });
    const known = kept?.fault === undefined ? before : undefined;
    const changes = computeChanges(name, known, after, kept !== undefined);
    return await changeConfigEntry(context, { kind: "resource", name, snapshot }, changes);
  });
}

function computeChanges(
  name: string,
  before: ResourceConfig | undefined,
  after: ResourceConfig | undefined,
  isThere: boolean,
): ConfigChange[] {
  if (after === undefined) return isThere ? [{ kind: "resource", name, before, after }] : [];
  const toConfiguration = (config: ResourceConfig | undefined) => ({
    groups: new Map<string, readonly string[]>(),
    resources: new Map(config === undefined ? [] : [[name, normalizeResource(config)]]),
  });
  return computeConfigChanges(toConfiguration(before), toConfiguration(after));
}

function parseNoteFlag(call: Call<ResourceSetFlags>): Pick<ResourceConfig, "note"> {
  const note = call.flags.note;
  if ((note?.length ?? 0) > LONGEST_NOTE)
    throw new UsageError(`--note must have at most ${LONGEST_NOTE} characters; got ${note?.length}`);
  return note === undefined ? {} : { note };
}

/** @returns undefined to remove the order */
function parseOrderFlag(call: Call<ResourceSetFlags>, before: number | undefined): number | undefined {
  const order = call.flags.order;
  if (order === undefined) return before;
  if (order === "") return undefined;
  if (!/^-?\d{1,9}$/.test(order))
    throw new UsageError(`--order must be a whole number; got ${quoteText(order)}`);
  return Number(order);
}

export const listResources = createReadCommand<JsonFlags>(async ({ flags }, io, context) => {
  const snapshot = await readSnapshot(context, CONFIG_COLLECTIONS);
  const resources = [...buildConfiguration(snapshot).resources].sort(compareByResourceOrder);
  const malformed = listMalformedConfig(snapshot).filter(({ kind }) => kind === "resource");
  if (flags.json)
    io.writeOutput(
      formatJsonDocument({
        revision: snapshot.revision,
        resources: resources.map(([name, config]) => ({ name, ...config })),
        malformed: malformed.map(({ name, fault }) => ({ name, fault })),
      }),
    );
  else
    io.writeOutput(
      renderTextTable(
        ["RESOURCE", "TOTAL", "ORDER", "NOTE"],
        [
          ...resources.map(([name, { total = "", order = "", note = "" }]) => [
            name,
            total,
            String(order),
            note,
          ]),
          ...malformed.map(({ name, fault }) => [name, "malformed", "", fault]),
        ],
      ),
    );
});
