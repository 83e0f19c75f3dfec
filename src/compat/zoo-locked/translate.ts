import { collectTexts } from "../../base/text.ts";
import type { LineTranslator, TranslatedRun } from "../translated-run.ts";
import { formatIgnoredWords, parseZooLockedOptions } from "./options.ts";

/** Translates a line of zoo-locked to `signalbox run`. @throws UsageError if the front end would refuse it */
export const translateZooLocked: LineTranslator = (words): TranslatedRun => {
  const parsed = parseZooLockedOptions(words);
  const { endpoints, lock, command } = parsed;
  return {
    options: ["-E", "0", "--lock", lock, ...(endpoints === undefined ? [] : ["--endpoints", endpoints])],
    command,
    notes: collectTexts([
      formatIgnoredWords(parsed),
      "nothing is printed if the lock is taken (before: LOCKED by ...)",
      endpoints === undefined && "signalbox's own configuration must say where etcd is",
    ]),
    coversChildren: true, // zoo-locked reads the command's output until all writers have closed it
  };
};
