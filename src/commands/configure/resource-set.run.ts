import { UsageError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import { LONGEST_NOTE } from "../../fleet/document-reader.ts";
import type { ResourceConfig } from "../../fleet/resources.ts";
import { textFlag } from "../flags.ts";
import type { Call } from "../spec.ts";
import { totalCheck } from "./configured.ts";
import { resourceCommand } from "./resource-change.ts";

/** What is not given stays as it is. */
export const execute = resourceCommand((before, { call, desk, name, picture }) => {
  const [, total] = call.args;
  const fault = total === undefined ? undefined : totalCheck(desk, picture)(name, total);
  if (fault !== undefined) throw new UsageError(`total ${fault}`);
  const { order, ...rest } = { ...before, ...noteFlag(call), ...(total !== undefined && { total }) };
  const place = orderFlag(call, order);
  return { ...rest, ...(place !== undefined && { order: place }) };
});

function noteFlag(call: Call): Pick<ResourceConfig, "note"> {
  const note = textFlag(call, "note");
  if ((note?.length ?? 0) > LONGEST_NOTE)
    throw new UsageError(`--note: it has ${note?.length} characters, ${LONGEST_NOTE} are allowed`);
  return note === undefined ? {} : { note };
}

/** @returns undefined where it is to have none */
function orderFlag(call: Call, before: number | undefined): number | undefined {
  const order = textFlag(call, "order");
  if (order === undefined) return before;
  if (order === "") return undefined;
  if (!/^-?\d{1,9}$/.test(order)) throw new UsageError(`--order: ${quoted(order)} is not a whole number`);
  return Number(order);
}
