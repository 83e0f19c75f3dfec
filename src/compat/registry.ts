import type { Command } from "../commands/spec.ts";
import { cronlock, golock } from "./cronlock/spec.ts";
import { migrateCrontab } from "./migrate/spec.ts";
import { perfectsched } from "./perfectsched/spec.ts";
import { switchman } from "./switchman/spec.ts";
import { zooLocked } from "./zoo-locked/spec.ts";

/** Front ends that hold a lock while a command runs. */
export const RUNNERS: readonly Command[] = [cronlock, golock, switchman, zooLocked];

/** What helps to move here from other tools, in the order of help. */
export const FRONT_ENDS: readonly Command[] = [migrateCrontab, ...RUNNERS, perfectsched];
