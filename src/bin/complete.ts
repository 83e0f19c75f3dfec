import { complete } from "../cli/frame/completion/complete.ts";
import { ALL_COMMANDS } from "./commands.ts";
import { launch } from "./launch.ts";

/**
 * `signalbox __complete …`, which shells call for tab completion. Its bundle contains only declarations, not the
 * implementations of commands.
 */
launch((argv, io) => complete(ALL_COMMANDS, argv.slice(1), io));
