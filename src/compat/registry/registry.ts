import type { Command } from "../../commands/spec.ts";
import { migrateCrontabCommand } from "../migrate/spec.ts";
import { perfectsched } from "../perfectsched/spec.ts";
import { RUNNERS } from "./runners.ts";

/** Commands for migrating from other tools, in the order of the help. */
export const FRONT_ENDS: readonly Command[] = [migrateCrontabCommand, ...RUNNERS, perfectsched];
