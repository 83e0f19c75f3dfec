import { basename } from "node:path";
import { importCount, importing } from "../../../work/schedule/importing.ts";
import { documentInput } from "../../configure/document-input.ts";
import { textFlag } from "../../flags.ts";
import { withStore } from "../../with-store.ts";
import { Amending } from "../amending.ts";
import { refuse } from "../import-input.ts";
import { checkName } from "../words.ts";
import { convertTable } from "./convert.ts";

export const execute = withStore(async (call, world, desk) => {
  const [file = "-"] = call.args;
  const text = await documentInput(world, file);
  const name = file === "-" ? "standard input" : file;
  const source = checkName("source", textFlag(call, "source") ?? "perfectsched");
  const terms = {
    type: textFlag(call, "type"),
    source,
    prefix: textFlag(call, "prefix-id") ?? "",
    now: desk.clock.wall(),
  };
  const { definitions, positions, faults, notes } = convertTable(text, terms);
  const at = ({ line, detail }: { line: number; detail: string }) => `${name}:${line}: ${detail}`;
  if (faults.length > 0) return refuse(call, world, [...faults].sort((a, b) => a.line - b.line).map(at));
  const { code } = await new Amending(call, world, desk, {
    amendment: importing({
      ...{ definitions, positions, source, prunes: call.flags.prune === true },
      target: `schedules of ${basename(name)}`,
    }),
    ...{ notes: notes.map(at), asks: true },
    nothing: "the schedules are so already: nothing to change",
    question: (changes) => `Import ${definitions.size} schedules (${importCount(changes)})?`,
  }).run();
  return code;
});
