import { drain, undrain } from "./act/drain.ts";
import { release, reset } from "./act/reset.ts";
import { checkCrontab } from "./check/check-crontab.ts";
import { checkHosts } from "./check/check-hosts.ts";
import { config } from "./check/config.ts";
import { doctor } from "./check/doctor.ts";
import { init } from "./check/init.ts";
import { completion } from "./completion/spec.ts";
import { groupAdd, groupDelete, groupList, groupRemove, groupSet } from "./configure/group.ts";
import { prune } from "./configure/prune.ts";
import { resourceDelete, resourceList, resourceSet } from "./configure/resource.ts";
import { editConfig, exportConfig, importConfig, importSwitchman } from "./configure/transfer.ts";
import { run } from "./run/run.ts";
import {
  scheduleDead,
  scheduleExplain,
  scheduleLint,
  scheduleList,
  scheduleNext,
  scheduleShow,
} from "./schedule/look.ts";
import { importPerfectsched } from "./schedule/perfectsched/spec.ts";
import {
  scheduleAdd,
  scheduleBury,
  scheduleDelete,
  scheduleEdit,
  schedulePause,
  scheduleResume,
  scheduleTrigger,
} from "./schedule/schedule.ts";
import { scheduleDiff, scheduleExport, scheduleImport } from "./schedule/transfer.ts";
import { worker } from "./schedule/worker.ts";
import { consoleCommand } from "./see/console.ts";
import { exporter } from "./see/exporter.ts";
import { history, stats } from "./see/history.ts";
import { ls } from "./see/ls.ts";
import { show, why } from "./see/show.ts";
import type { Command } from "./spec.ts";

/** Every command, in the order of help. */
export const COMMANDS: readonly Command[] = [
  run,
  worker,
  consoleCommand,
  ls,
  show,
  why,
  history,
  stats,
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
  prune,
  scheduleAdd,
  scheduleList,
  scheduleShow,
  scheduleEdit,
  scheduleDelete,
  schedulePause,
  scheduleResume,
  scheduleTrigger,
  scheduleDead,
  scheduleBury,
  scheduleNext,
  scheduleExplain,
  scheduleLint,
  scheduleImport,
  scheduleDiff,
  scheduleExport,
  init,
  doctor,
  checkCrontab,
  checkHosts,
  config,
  completion,
  importSwitchman,
  importPerfectsched,
];
