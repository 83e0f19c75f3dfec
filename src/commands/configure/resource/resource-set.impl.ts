import { UsageError } from "../../../base/errors.ts";
import { quoteText } from "../../../base/text.ts";
import { LONGEST_NOTE } from "../../../fleet/config-document-parser.ts";
import type { ResourceConfig } from "../../../fleet/resources.ts";
import { getTextFlag } from "../../command-line/flags.ts";
import type { Call } from "../../spec.ts";
import { createTotalCheck } from "../config-snapshot.ts";
import { createResourceCommand } from "./resource-change.ts";

/** Fields that are not given stay unchanged. */
export const { execute, perform } = createResourceCommand((before, { context, name, snapshot }) => {
  const { call } = context;
  const [, total] = call.args;
  const fault = total === undefined ? undefined : createTotalCheck(context, snapshot)(name, total);
  if (fault !== undefined) throw new UsageError(`total ${fault}`);
  const { order, ...rest } = { ...before, ...parseNoteFlag(call), ...(total !== undefined && { total }) };
  const place = parseOrderFlag(call, order);
  return { ...rest, ...(place !== undefined && { order: place }) };
});

function parseNoteFlag(call: Call): Pick<ResourceConfig, "note"> {
  const note = getTextFlag(call, "note");
  if ((note?.length ?? 0) > LONGEST_NOTE)
    throw new UsageError(`--note must have at most ${LONGEST_NOTE} characters; got ${note?.length}`);
  return note === undefined ? {} : { note };
}

/** @returns undefined to remove the order */
function parseOrderFlag(call: Call, before: number | undefined): number | undefined {
  const order = getTextFlag(call, "order");
  if (order === undefined) return before;
  if (order === "") return undefined;
  if (!/^-?\d{1,9}$/.test(order))
    throw new UsageError(`--order must be a whole number; got ${quoteText(order)}`);
  return Number(order);
}
