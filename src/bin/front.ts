import { UsageError } from "../base/errors.ts";
import { RUNNERS } from "../compat/registry.ts";
import { launch } from "./launch.ts";
import { fail, runCommand } from "./main.ts";

const [, , called] = process.argv;
const front = RUNNERS.find(({ id }) => id === called);

/** `signalbox cronlock …` and its like: cron starts them as it starts `run`, so their bundle holds nothing else. */
launch(
  (argv, world) =>
    front === undefined
      ? Promise.resolve(fail(new UsageError(`${called} is no front end`), world, 0))
      : runCommand(front, argv.slice(1), world),
  front?.failure,
);
