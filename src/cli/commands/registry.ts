import { type Command, isRowCommand, type RowCommand } from "../frame/command.ts";
import { completion } from "../frame/completion/completion.ts";
import { DRAIN_COMMANDS } from "./act/drain.ts";
import { reset } from "./act/reset.ts";
import { agentCommand } from "./agent.ts";
import { RECENT_CHECKS } from "./check/check-recent.ts";
import { checkToken } from "./check/check-token.ts";
import { CONFIG_COMMANDS } from "./check/config.ts";
import { checkCrontab } from "./check/crontab/check-crontab.ts";
import { checkHosts, DOCTOR_COMMANDS } from "./check/doctor.ts";
import { CALENDAR_COMMANDS } from "./configure/calendar.ts";
import { GROUP_COMMANDS } from "./configure/group.ts";
import { pruneCommand } from "./configure/prune.ts";
import { RESOURCE_COMMANDS } from "./configure/resource.ts";
import { setupEtcd } from "./configure/setup-etcd.ts";
import { importSwitchman, SITE_COMMANDS } from "./configure/site.ts";
import { ETCD_COMMANDS } from "./etcd/etcd.ts";
import { runCommand } from "./run/run.ts";
import { SCHEDULE_CHANGES } from "./schedule/change.ts";
import { hookTest } from "./schedule/hook.ts";
import { SCHEDULE_INSPECTIONS } from "./schedule/inspect.ts";
import { importPerfectsched, SCHEDULE_TRANSFERS } from "./schedule/transfer.ts";
import { worker } from "./schedule/worker.ts";
import { compare } from "./see/compare.ts";
import { consoleCommand } from "./see/console.ts";
import { logs } from "./see/logs.ts";
import { ls } from "./see/ls/ls.ts";
import { overview } from "./see/overview.ts";
import { SHOW_COMMANDS } from "./see/show.ts";
import { timeline } from "./see/timeline.ts";

/** All commands, in the order of the help. Those of one topic stand in its file. */
export const COMMANDS = [
  runCommand,
  worker,
  agentCommand,
  consoleCommand,
  overview,
  ls,
  ...SHOW_COMMANDS,
  ...ETCD_COMMANDS,
  logs,
  timeline,
  compare,
  reset,
  ...DRAIN_COMMANDS,
  ...GROUP_COMMANDS,
  ...RESOURCE_COMMANDS,
  ...SITE_COMMANDS,
  pruneCommand,
  setupEtcd,
  ...SCHEDULE_CHANGES,
  ...SCHEDULE_INSPECTIONS,
  ...CALENDAR_COMMANDS,
  ...SCHEDULE_TRANSFERS,
  hookTest,
  ...DOCTOR_COMMANDS,
  checkCrontab,
  checkHosts,
  ...RECENT_CHECKS,
  checkToken,
  ...CONFIG_COMMANDS,
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
