import { config } from "./config.ts";
import { groupList, groupSet } from "./group.ts";
import { init } from "./init.ts";
import { ls } from "./ls.ts";
import { prune } from "./prune.ts";
import { release, reset } from "./reset.ts";
import { resourceList, resourceSet } from "./resource.ts";
import { run } from "./run.ts";
import type { Command } from "./spec.ts";

/** Every command, in the order of help. */
export const COMMANDS: readonly Command[] = [
  run,
  ls,
  reset,
  release,
  groupSet,
  groupList,
  resourceSet,
  resourceList,
  prune,
  init,
  config,
];
