import { drain, undrain } from "../act/drain.ts";
import { release, reset } from "../act/reset.ts";
import { agentCommand } from "../agent.ts";
import { checkLock, checkSchedule } from "../check/check-recent.ts";
import { config, contextList, contextShow } from "../check/config.ts";
import { checkCrontab } from "../check/crontab/check-crontab.ts";
import { checkHosts, doctor, init } from "../check/doctor.ts";
import { completion } from "../completion/completion.ts";
import { groupAdd, groupDelete, groupList, groupRemove, groupSet } from "../configure/group.ts";
import { pruneCommand } from "../configure/prune.ts";
import { resourceDelete, resourceList, resourceSet } from "../configure/resource.ts";
import { setupEtcd } from "../configure/setup-etcd.ts";
import { editConfig, exportConfig, importConfig, importSwitchman } from "../configure/transfer.ts";
import { runCommand } from "../run/run.ts";
import * as calendars from "../schedule/calendar.ts";
import * as changes from "../schedule/change.ts";
import { hookTest } from "../schedule/hook.ts";
import * as inspections from "../schedule/inspect.ts";
import { importPerfectsched, scheduleDiff, scheduleExport, scheduleImport } from "../schedule/transfer.ts";
import { worker } from "../schedule/worker.ts";
import { consoleCommand } from "../see/console.ts";
import { exporter } from "../see/exporter.ts";
import { historyCommand, stats } from "../see/history.ts";
import { collisions, timeline, whatIfDrain, whatIfReset, whatIfTotal } from "../see/insight.ts";
import { logs } from "../see/logs.ts";
import { ls } from "../see/ls/ls.ts";
import { rawCommand } from "../see/raw.ts";
import { showCommand, why } from "../see/show.ts";
import { type Command, isRowCommand, type RowCommand } from "../spec.ts";

/** All commands, in the order of help. */
export const COMMANDS = [
  runCommand,
  worker,
  agentCommand,
  consoleCommand,
  ls,
  showCommand,
  why,
  rawCommand,
  historyCommand,
  logs,
  stats,
  timeline,
  collisions,
  whatIfDrain,
  whatIfReset,
  whatIfTotal,
  exporter,
  reset,
  release,
  drain,
  undrain,
  groupSet,
  groupAdd,
  groupRemove,
  groupDelete,
  groupList,
  resourceSet,
  resourceDelete,
  resourceList,
  exportConfig,
  importConfig,
  editConfig,
  pruneCommand,
  setupEtcd,
  changes.scheduleAdd,
  inspections.scheduleList,
  inspections.scheduleShow,
  changes.scheduleAt,
  changes.scheduleEdit,
  changes.scheduleDelete,
  changes.schedulePause,
  changes.scheduleResume,
  changes.scheduleTrigger,
  inspections.scheduleDead,
  changes.scheduleBackfill,
  changes.scheduleBury,
  inspections.scheduleNext,
  inspections.scheduleGraph,
  inspections.scheduleExplain,
  inspections.scheduleLint,
  calendars.calendarAdd,
  calendars.calendarImport,
  calendars.calendarShow,
  calendars.calendarList,
  calendars.calendarDelete,
  scheduleImport,
  scheduleDiff,
  scheduleExport,
  hookTest,
  init,
  doctor,
  checkCrontab,
  checkHosts,
  checkLock,
  checkSchedule,
  config,
  contextList,
  contextShow,
  completion,
  importSwitchman,
  importPerfectsched,
] as const satisfies readonly Command[];

/** A command that acts on rows of the console's tables. */
export type DeclaredRowCommand = Extract<(typeof COMMANDS)[number], RowCommand>;

export type RowCommandId = DeclaredRowCommand["id"];

export const ROW_COMMANDS: readonly DeclaredRowCommand[] = COMMANDS.filter(
  (command): command is DeclaredRowCommand => isRowCommand(command),
);

/** Whether a command acts on rows of the console's tables. */
export function isRowCommandId(id: string): id is RowCommandId {
  return ROW_COMMANDS.some((command) => command.id === id);
}
