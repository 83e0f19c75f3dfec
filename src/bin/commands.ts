import type { Command } from "../commands/command.ts";
import { COMMANDS as OURS } from "../commands/registry/registry.ts";
import { FRONT_ENDS } from "../compat/registry/registry.ts";

/** All commands of the command line, in the order of the help. The console has only our own commands. */
export const ALL_COMMANDS: readonly Command[] = [...OURS, ...FRONT_ENDS];
