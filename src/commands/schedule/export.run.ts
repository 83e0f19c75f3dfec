import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import type { Definition } from "../../schedule/definition.ts";
import { readAllSeen } from "../../work/schedule/seen.ts";
import { replaceWith } from "../configure/write-file.ts";
import { textFlag } from "../flags.ts";
import { withStore } from "../with-store.ts";
import { crontabText } from "./crontab/write.ts";
import { documentText } from "./document.ts";

export const execute = withStore(async (call, world, desk) => {
  const [file = "-"] = call.args;
  const { schedules } = await readAllSeen(desk, desk.signal);
  const definitions = new Map<string, Definition>();
  for (const { id, definition, fault } of schedules.values()) {
    if (definition !== undefined) definitions.set(id, definition);
    else if (call.verbosity >= 0)
      world.err(
        `signalbox: note: schedule ${clean(id)} cannot be read and was left out: ${clean(fault ?? "")}\n`,
      );
  }
  const text = (textFlag(call, "format") === "crontab" ? crontabText : documentText)(definitions);
  if (file === "-") world.out(text);
  else replaceWith(file, text);
  return EXIT.ok;
});
