import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { foreseen } from "../../work/schedule/amend.ts";
import { importCount, importing } from "../../work/schedule/importing.ts";
import { json } from "../table.ts";
import { withStore } from "../with-store.ts";
import { changeJson } from "./amending.ts";
import { changeLine } from "./change-lines.ts";
import { importInput } from "./import-input.ts";

export const execute = withStore(async (call, world, desk) => {
  const input = await importInput(call, world);
  if (typeof input === "number") return input;
  const { changes, revision } = await foreseen(desk, importing(input.wanted));
  if (call.flags.json) world.out(json({ revision, changes: changes.map(changeJson), notes: input.notes }));
  else {
    for (const note of input.notes) if (call.verbosity >= 0) world.err(`signalbox: note: ${clean(note)}\n`);
    for (const change of changes) world.out(`${clean(changeLine(change))}\n`);
    world.out(`${importCount(changes)}\n`);
  }
  return changes.length === 0 ? EXIT.ok : EXIT.undone;
});
