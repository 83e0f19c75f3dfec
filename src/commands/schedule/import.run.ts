import { importCount, importing } from "../../work/schedule/importing.ts";
import { withStore } from "../with-store.ts";
import { Amending } from "./amending.ts";
import { importInput } from "./import-input.ts";

export const execute = withStore(async (call, world, desk) => {
  const input = await importInput(call, world);
  if (typeof input === "number") return input;
  const { wanted, notes } = input;
  const { code } = await new Amending(call, world, desk, {
    ...{ amendment: importing(wanted), notes, asks: true },
    nothing: "the schedules are so already: nothing to change",
    question: (changes) => `Import ${wanted.definitions.size} schedules (${importCount(changes)})?`,
  }).run();
  return code;
});
