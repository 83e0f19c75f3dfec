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
  if (printed.trim() === "" || printed.trim() === "null")
    throw new SignalboxError(EXIT.config, `${file} is empty: the znode keeps neither groups nor resources`);
  const found = znodeJson(printed);
  const text = found?.text ?? printed;
  const notes = [...passedOver(found?.passedOver ?? []), ...shortNames(text)];
  if (call.verbosity >= 0) for (const note of notes) world.err(`signalbox: ${clean(`${file}: ${note}`)}\n`);
  return await importing(call, world, desk, file, text);
});

function passedOver(lines: readonly number[]): string[] {
  const shown = lines.slice(0, 8).join(", ");
  if (lines.length === 0) return [];
  return [`passed over as no part of the data: line ${shown}${lines.length > 8 ? ", ..." : ""}`];
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
