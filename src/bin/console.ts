import { consoleCommand } from "../cli/commands/see/console.ts";
import { launch } from "./launch.ts";
import { loadLayoutEngine } from "./layout-engine.ts";
import { runCommandLine } from "./main.ts";

/** `signalbox console …`, or `signalbox` alone on a terminal. Loads the display code, which no other command needs. */
launch((argv, io) => runCommandLine({ ...consoleCommand, load: loadConsole }, argv.slice(1), io));

async function loadConsole() {
  const layoutEngine = loadLayoutEngine(); // compiled while the rest is loaded
  const implementation = await import("../console/console.impl.ts");
  await layoutEngine;
  return implementation;
}
