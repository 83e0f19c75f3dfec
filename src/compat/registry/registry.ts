import type { Command } from "../../cli/frame/command.ts";
import { migrateCrontabCommand } from "../migrate/crontab.ts";
import { perfectsched } from "../perfectsched/perfectsched.ts";
import { RUNNERS } from "./runners.ts";

/** Commands for migrating from other tools, in the order of the help. */
export const FRONT_ENDS: readonly Command[] = [migrateCrontabCommand, ...RUNNERS, perfectsched];
