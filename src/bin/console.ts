import { consoleCommand } from "../commands/see/console.ts";
import { launch } from "./launch.ts";
import { runCommand } from "./main.ts";

/** `signalbox console …`, or `signalbox` alone on a terminal: loads what paints, which no other command needs. */
launch((argv, world) =>
  runCommand({ ...consoleCommand, load: () => import("../console/console.run.ts") }, argv.slice(1), world),
);
