import type { AsRun, Translate } from "../as-run.ts";
import { wishOf } from "./wish.ts";

/** A line of zoo-locked as one of `signalbox run`. @throws UsageError where the front end would refuse it */
export const asRun: Translate = (words): AsRun => {
  const { endpoints, lock, command } = wishOf(words);
  return {
    options: [...["-E", "0", "--lock", lock], ...(endpoints === undefined ? [] : ["--endpoints", endpoints])],
    command,
    notes: [
      "nothing is printed where the lock is taken (LOCKED by ... before)",
      ...(endpoints === undefined ? ["signalbox's own configuration must say where etcd is"] : []),
    ],
  };
};
