import { run } from "../commands/run/run.ts";
import { launch } from "./launch.ts";
import { runCommand } from "./main.ts";

/** `signalbox run …`: cron starts it every minute on every host, so its bundle holds nothing else. */
launch((argv, world) => runCommand(run, argv.slice(1), world));
