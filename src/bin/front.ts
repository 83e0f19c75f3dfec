import { UsageError } from "../base/errors.ts";
import { RUNNERS } from "../compat/registry.ts";
import { launch } from "./launch.ts";
import { fail, runCommand } from "./main.ts";

/** `signalbox cronlock …` and its like: cron starts them as it starts `run`, so their bundle holds nothing else. */
launch((argv, world) => {
  const [name, ...words] = argv;
  const front = RUNNERS.find(({ id }) => id === name);
  return front === undefined
    ? Promise.resolve(fail(new UsageError(`${name} is no front end`), world, 0))
    : runCommand(front, words, world);
});
