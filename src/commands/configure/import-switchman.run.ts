import { EXIT, SignalboxError } from "../../base/errors.ts";
import { clean, quoted } from "../../base/text.ts";
import { parseDocument } from "../../fleet/document-reader.ts";
import { znodeJson } from "../../fleet/znode-text.ts";
import { withStore } from "../with-store.ts";
import { documentInput } from "./document-input.ts";
import { importing } from "./import.run.ts";

export const execute = withStore(async (call, world, desk) => {
  const [file = "-"] = call.args;
  const printed = await documentInput(world, file);
  const name = file === "-" ? "stdin" : file;
  if (printed.trim() === "" || printed.trim() === "null")
    throw new SignalboxError(EXIT.config, `${name} is empty: the znode keeps neither groups nor resources`);
  const found = znodeJson(printed);
  const text = found?.text ?? printed;
  const notes = [...passedOver(found?.passedOver ?? []), ...shortNames(text)];
  if (call.verbosity >= 0) for (const note of notes) world.err(`signalbox: ${clean(`${name}: ${note}`)}\n`);
  return await importing(call, world, desk, name, text);
});

function passedOver(lines: readonly number[]): string[] {
  const shown = lines.slice(0, 8).join(", ");
  if (lines.length === 0) return [];
  const which = `${lines.length === 1 ? "line" : "lines"} ${shown}${lines.length > 8 ? ", ..." : ""}`;
  return [`passed over, for it is no part of the data: ${which}`];
}

/** Members that are neither a group of the document nor a host's full name. */
function shortNames(text: string): string[] {
  const document = parseDocument(text, () => undefined);
  if ("faults" in document) return []; // told by the import itself
  const groups = document.value.groups ?? new Map<string, readonly string[]>();
  return [...groups].flatMap(([group, members]) =>
    members
      .filter((member) => !groups.has(member) && !member.includes("."))
      .map(
        (member) =>
          `group ${quoted(group)}: ${quoted(member)} is no group here, and as a host it has no domain: only a host that` +
          " calls itself exactly so is in the group",
      ),
  );
}
