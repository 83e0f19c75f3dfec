import { predictDrain } from "../../../model/insight/what-if.ts";
import { formatOperator } from "../../../operate/ports.ts";
import { parseDrainTarget } from "../../drain-target.ts";
import { createReadCommand } from "../../read-command.ts";
import { QUEUE_COLLECTIONS, readSnapshot } from "../../read-snapshot.ts";
import { printWhatIf } from "./print-what-if.ts";

export const execute = createReadCommand(async (call, io, context) => {
  const target = parseDrainTarget(call.args);
  const snapshot = await readSnapshot(context, [...QUEUE_COLLECTIONS, "histories"]);
  const wall = context.clock.getWallTime();
  const report = predictDrain(snapshot, target, { by: formatOperator(context.operator), wall });
  printWhatIf(call, io, { report, revision: snapshot.revision, wall });
});
