import { clean } from "../../../base/text.ts";
import {
  explainLockAt,
  explainScheduleAt,
  findMainReason,
  type PastReason,
} from "../../../model/insight/why-then.ts";
import { formatAuditTime } from "../../../protocol/audit.ts";
import { validateName } from "../../../protocol/names.ts";
import { parseOutcomes } from "../../../schedule/state/outcome.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { readSnapshotRanges, throwUnknownName, toSingleKeyRange } from "../../read-snapshot.ts";
import type { Call, CommandIo } from "../../spec.ts";
import type { CommandContext } from "../../store-command.ts";
import { parsePastTime } from "../insight/past-time.ts";

/** How far before the time actions of operators are read, ms: a drain may be that old. */
const AUDIT_BEFORE = 30 * 86_400_000;

/**
 * Prints why a schedule or lock did not run at a time, as history shows it.
 * @throws UsageError; SignalboxError 1 if neither a schedule nor the history of a lock has this name; StoreError
 */
export async function printWhyAt(
  call: Call,
  io: CommandIo,
  context: CommandContext,
  time: string,
): Promise<undefined> {
  const name = validateName("schedule", call.args[0] ?? "");
  const at = parsePastTime("--at", time, context.clock.getWallTime());
  const snapshot = await readPast(context, name, at);
  const definition = snapshot.schedules.get(name)?.value;
  const hasLock = snapshot.histories.has(name);
  if (definition === undefined && !hasLock)
    throwUnknownName("schedule", name, [], ", and no lock has runs with this name");
  const { runs } = parseOutcomes(snapshot.outcomes.get(name));
  const due = snapshot.dues.get(name)?.value;
  const reasons: PastReason[] = [
    ...(definition === undefined
      ? []
      : explainScheduleAt({ id: name, definition, due, runs, calendars: snapshot.calendars }, at, snapshot)),
    ...(hasLock ? explainLockAt(name, at, snapshot) : []),
  ];
  if (call.flags.json)
    io.writeOutput(
      formatJsonDocument({
        revision: snapshot.revision,
        at,
        main: findMainReason(reasons)?.text ?? null,
        reasons,
      }),
    );
  else io.writeOutput(`${reasons.map(({ text }) => clean(text)).join("\n")}\n`);
}

function readPast(context: CommandContext, name: string, at: number) {
  const { keys } = context;
  const audits = { key: keys.audit(formatAuditTime(at - AUDIT_BEFORE)), rangeEnd: keys.audits().rangeEnd };
  const single = [keys.schedule(name), keys.due(name), keys.outcomes(name), keys.history(name)];
  return readSnapshotRanges(
    context,
    ["drains", "calendars", "groups"],
    [audits, ...single.map(toSingleKeyRange)],
  );
}
