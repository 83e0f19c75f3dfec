import { consoleCommand } from "../commands/see/console.ts";
import { launch } from "./launch.ts";
import { runCommandLine } from "./main.ts";

/** `signalbox console …`, or `signalbox` alone on a terminal. Loads the display code, which no other command needs. */
launch((argv, io) =>
  runCommandLine({ ...consoleCommand, load: () => import("../console/console.impl.ts") }, argv.slice(1), io),
);
