import { complete } from "../commands/completion/complete.ts";
import { COMMANDS } from "./commands.ts";
import { launch } from "./launch.ts";

/** `signalbox __complete …`, which shells call while somebody types: its bundle holds declarations, and no command's work. */
launch((argv, world) => complete(COMMANDS, argv.slice(1), world));
