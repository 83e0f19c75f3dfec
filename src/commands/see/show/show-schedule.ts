import { filterAuditRecords } from "../../../model/detail/detail.ts";
import { buildScheduleDetail, isAboutSchedule } from "../../../model/detail/schedule.ts";
import { schedulesView } from "../../../model/tables/schedules.ts";
import { buildViewContext } from "../../../model/views/view-context.ts";
import { parseOutcomes } from "../../../schedule/state/outcome.ts";
import {
  buildRecentAuditRange,
  readEntryLiveness,
  readSnapshotRanges,
  throwUnknownName,
  toSingleKeyRange,
} from "../../read-snapshot.ts";
import type { CommandContext } from "../../store-command.ts";
import type { DetailDocument } from "./show-json.ts";

/** Shows a schedule. Reads its own keys, the workers and the groups. @throws SignalboxError 1 if it does not exist */
export async function showSchedule(context: CommandContext, id: string): Promise<DetailDocument> {
  const { keys, clock } = context;
  const own = [keys.schedule(id), keys.due(id), keys.running(id), keys.outcomes(id)].map(toSingleKeyRange);
  const ranges = [...own, keys.getOccurrenceRange(id), buildRecentAuditRange(context)];
  const snapshot = await readSnapshotRanges(context, ["workers", "groups", "calendars"], ranges);
  const executions = snapshot.executions.get(id) ?? [];
  const liveness = await readEntryLiveness(context, executions);
  const wall = clock.getWallTime();
  const detail = buildScheduleDetail(snapshot, id, { wall, sessions: liveness });
  if (detail === undefined) {
    const all = await readSnapshotRanges(context, ["schedules"], [], snapshot.revision);
    return throwUnknownName("schedule", id, all.schedules.keys());
  }
  const [row] = schedulesView.buildRows(snapshot, buildViewContext(snapshot, wall));
  const outcomes = parseOutcomes(snapshot.outcomes.get(id));
  return {
    revision: snapshot.revision,
    detail,
    document: {
      row: row && schedulesView.toJson(row),
      history: outcomes.runs,
      dead: outcomes.dead,
      audit: filterAuditRecords(snapshot.audit, (target) => isAboutSchedule(target, id)),
    },
  };
}
