import { COMMANDS as OURS } from "../cli/commands/registry.ts";
import type { Command } from "../cli/frame/command.ts";
import { FRONT_ENDS } from "../compat/registry/registry.ts";
import { serve } from "../page/serve.ts";

/** All commands of the command line, in the order of the help. The console has no front ends of other tools. */
export const ALL_COMMANDS: readonly Command[] = [...OURS, serve, ...FRONT_ENDS];
