import { runCommand } from "../cli/commands/run/run.ts";
import { launch } from "./launch.ts";
import { runCommandLine } from "./main.ts";

/** `signalbox run …`. Cron starts it every minute on every host, so its bundle contains nothing else. */
launch((argv, io) => runCommandLine(runCommand, argv.slice(1), io));
