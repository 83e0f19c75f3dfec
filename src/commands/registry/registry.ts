import { drain, undrain } from "../act/drain/drain.ts";
import { release, reset } from "../act/reset/reset.ts";
import { agentCommand } from "../agent/agent.ts";
import { checkHosts } from "../check/check-hosts.ts";
import { config } from "../check/config.ts";
import { contextList, contextShow } from "../check/context/context-commands.ts";
import { checkCrontab } from "../check/crontab/check-crontab.ts";
import { doctor } from "../check/doctor/doctor.ts";
import { init } from "../check/init.ts";
import { checkLock, checkSchedule } from "../check/recent/check-recent.ts";
import { completion } from "../completion/spec.ts";
import { groupAdd, groupDelete, groupList, groupRemove, groupSet } from "../configure/group/group.ts";
import { pruneCommand } from "../configure/prune.ts";
import { resourceDelete, resourceList, resourceSet } from "../configure/resource/resource.ts";
import { setupEtcd } from "../configure/setup/setup-etcd.ts";
import { editConfig, exportConfig, importConfig, importSwitchman } from "../configure/transfer/transfer.ts";
import { runCommand } from "../run/run.ts";
import * as calendars from "../schedule/calendar/calendar-commands.ts";
import * as changes from "../schedule/change/change-commands.ts";
import { hookTest } from "../schedule/hook/hook-commands.ts";
import * as inspections from "../schedule/inspect/inspect-commands.ts";
import { importPerfectsched } from "../schedule/perfectsched/spec.ts";
import { scheduleDiff, scheduleExport, scheduleImport } from "../schedule/transfer/transfer-commands.ts";
import { worker } from "../schedule/worker/worker.ts";
import { consoleCommand } from "../see/console.ts";
import { exporter } from "../see/exporter/exporter.ts";
import { historyCommand, stats } from "../see/history/history.ts";
import { collisions, timeline } from "../see/insight/insight-commands.ts";
import { whatIfDrain, whatIfReset, whatIfTotal } from "../see/insight/what-if-commands.ts";
import { logs } from "../see/logs/logs.ts";
import { ls } from "../see/ls/ls.ts";
import { rawCommand } from "../see/raw/raw.ts";
import { showCommand, why } from "../see/show/show.ts";
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
