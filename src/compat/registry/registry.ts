import type { Command } from "../../commands/spec.ts";
import { cronlock, golock } from "../cronlock/spec.ts";
import { migrateCrontabCommand } from "../migrate/spec.ts";
import { perfectsched } from "../perfectsched/spec.ts";
import { switchman } from "../switchman/spec.ts";
import { zooLocked } from "../zoo-locked/spec.ts";

/** Front ends that hold a lock while a command runs. */
export const RUNNERS: readonly Command[] = [cronlock, golock, switchman, zooLocked];

/** Commands for migrating from other tools, in the order of the help. */
export const FRONT_ENDS: readonly Command[] = [migrateCrontabCommand, ...RUNNERS, perfectsched];
