import { checkCrontab } from "./check-crontab.ts";
import { checkHosts } from "./check-hosts.ts";
import { completion } from "./completion/spec.ts";
import { config } from "./config.ts";
import { doctor } from "./doctor.ts";
import { drain, undrain } from "./drain.ts";
import { groupAdd, groupDelete, groupList, groupRemove, groupSet } from "./group.ts";
import { history, stats } from "./history.ts";
import { init } from "./init.ts";
import { ls } from "./ls.ts";
import { prune } from "./prune.ts";
import { release, reset } from "./reset.ts";
import { resourceDelete, resourceList, resourceSet } from "./resource.ts";
import { run } from "./run.ts";
import { show, why } from "./show.ts";
import type { Command } from "./spec.ts";
import { editConfig, exportConfig, importConfig } from "./transfer.ts";

/** Every command, in the order of help. */
export const COMMANDS: readonly Command[] = [
  run,
  ls,
  show,
  why,
  history,
  stats,
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
  init,
  doctor,
  checkCrontab,
  checkHosts,
  config,
  completion,
];
