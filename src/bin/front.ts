import { reportError } from "../cli/frame/command-line/execute-command.ts";
import { RUNNERS } from "../compat/registry/runners.ts";
import { UsageError } from "../core/base/errors.ts";
import { launch } from "./launch.ts";
import { runCommandLine } from "./main.ts";

const [, , called] = process.argv;
const front = RUNNERS.find(({ id }) => id === called);

/**
 * `signalbox cronlock …` and the other front ends. Cron starts them as often as `run`, so their bundle contains nothing
 * else.
 */
launch(
  (argv, io) =>
    front === undefined
      ? Promise.resolve(reportError(new UsageError(`unknown front end ${called}`), io, 0))
      : runCommandLine(front, argv.slice(1), io),
  front?.failure,
);
