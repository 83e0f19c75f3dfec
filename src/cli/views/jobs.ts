import { isJob } from "../../schedule/definition.ts";
import { createNumberColumn, createTextColumn } from "./columns.ts";
import { formatScheduleTask, type ScheduleRow, schedulesView } from "./schedules.ts";
import type { SnapshotView } from "./view.ts";

/** The columns of schedules that say something of what is due once. */
const SHARED = new Set(["state", "next", "at", "on", "since", "last", "dead", "note", "tags"]);

/** The schedules that stand for jobs of programs. Their ends are in `ls history`. */
export const jobsView: SnapshotView<ScheduleRow> = {
  ...schedulesView,
  id: "jobs",
  brief: "jobs of programs that are not done: what they wait for, how far they are",
  columns: [
    createTextColumn("job", 1, ({ id }) => id),
    ...schedulesView.columns.filter(({ id }) => SHARED.has(id)),
    createTextColumn("type", 3, formatScheduleTask),
    createTextColumn("progress", 2, ({ executions }) => executions[0]?.value?.progress),
    createNumberColumn("failures", 2, ({ due }) => due?.open[0]?.failures || undefined),
  ],
  buildRows: (...given) => schedulesView.buildRows(...given).filter(({ definition }) => isJob(definition)),
  empty:
    "No jobs. Programs add them (docs/library.md); to run a command once: signalbox schedule at +2h -- backup.sh",
};
