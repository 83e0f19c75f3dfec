import { createHash } from "node:crypto";
import { UsageError } from "../../base/errors.ts";
import { findCommandName } from "../../syntax/command-name.ts";
import { removeReleaseNames } from "../../syntax/release-path.ts";
import { formatOneHostNote } from "../lock-tools.ts";
import type { LineTranslator } from "../translated-run.ts";

/** Matches characters that stand for expansions. */
const UNKNOWN = /[\ue000-\uf8ff]/g;

/** Translates a line of run-one. Its lock is that of the command with its arguments. @see run-one(1) of Ubuntu */
export const translateRunOne: LineTranslator = (words) => {
  const [file] = words;
  if (file === undefined) throw new UsageError("run-one: no command is given");
  const text = words.join(" ");
  const digest = createHash("sha512")
    .update(removeReleaseNames(text.replace(UNKNOWN, "?")))
    .digest("hex");
  const name = findCommandName([{ words }])?.replace(UNKNOWN, "").replace(/\s+/g, "-") || "job";
  return {
    options: ["--lock", `run-one.${name.slice(0, 60)}-${digest.slice(0, 8)}`, "-E", "1"],
    command: words,
    notes: [
      formatOneHostNote("run-one"),
      "run-one has a lock for each user; this lock is for all users",
      ...(UNKNOWN.test(text) ? ["the lock name leaves out what only the shell knows"] : []),
    ],
    coversChildren: true,
  };
};
