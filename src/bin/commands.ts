import { COMMANDS as OURS } from "../commands/registry.ts";
import type { Command } from "../commands/spec.ts";
import { FRONT_ENDS } from "../compat/registry.ts";

/** Every command of the command line, in the order of help. The console has the first ones only. */
export const COMMANDS: readonly Command[] = [...OURS, ...FRONT_ENDS];
