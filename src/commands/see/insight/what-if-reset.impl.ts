import { predictReset } from "../../../model/insight/what-if.ts";
import { findResetTargets } from "../../../model/preview/reset-targets.ts";
import { buildClaims } from "../../../model/snapshot/claims.ts";
import { validateName } from "../../../protocol/names.ts";
import { getTextFlag } from "../../command-line/flags.ts";
import { createReadCommand } from "../../read-command.ts";
import { QUEUE_COLLECTIONS, readSnapshot } from "../../read-snapshot.ts";
import { printWhatIf } from "./print-what-if.ts";

export const execute = createReadCommand(async (call, io, context) => {
  const kind = call.args[0] === "resource" ? "resource" : "lock";
  const name = validateName(kind, call.args[1] ?? "");
  const snapshot = await readSnapshot(context, [...QUEUE_COLLECTIONS, "histories"]);
  const wall = context.clock.getWallTime();
  const claims = buildClaims(snapshot);
  const targets = findResetTargets(snapshot, kind, name, getTextFlag(call, "run"));
  const evicted = [...new Set(targets.map(({ run }) => run))].flatMap((run) => claims.get(run) ?? []);
  const report = predictReset(snapshot, evicted, wall);
  printWhatIf(call, io, { report, revision: snapshot.revision, wall });
});
