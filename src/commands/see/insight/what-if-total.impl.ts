import { UsageError } from "../../../base/errors.ts";
import { quoteText } from "../../../base/text.ts";
import { predictTotal } from "../../../model/insight/what-if.ts";
import { validateName } from "../../../protocol/names.ts";
import { createReadCommand } from "../../read-command.ts";
import { QUEUE_COLLECTIONS, readSnapshot } from "../../read-snapshot.ts";
import { printWhatIf } from "./print-what-if.ts";

export const execute = createReadCommand(async (call, io, context) => {
  const [name = "", text = ""] = call.args;
  const resource = validateName("resource", name);
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new UsageError(`TOTAL must be a whole number of 1 or more; got ${quoteText(text)}`);
  const snapshot = await readSnapshot(context, [...QUEUE_COLLECTIONS, "hosts", "histories"]);
  const wall = context.clock.getWallTime();
  const report = predictTotal(snapshot, { resource, total: Number(text) }, wall);
  printWhatIf(call, io, { report, revision: snapshot.revision, wall });
});
