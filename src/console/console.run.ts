import { UsageError } from "../base/errors.ts";
import { quoted } from "../base/text.ts";
import { textFlag } from "../commands/flags.ts";
import type { Call, Execute, Surroundings } from "../commands/spec.ts";
import { withStore } from "../commands/with-store.ts";
import { TABS, type TabId } from "./state/state.ts";

/** `signalbox console`: one screen where that is asked for, else the console until its user leaves. */
export const execute: Execute = async (call, world) => {
  const view = viewFlag(call);
  const quiet = { ...call, verbosity: -1 }; // nothing may be written beside the screen
  if (call.flags.once) {
    const size = sizeFlag(call, world);
    const { once } = await import("./once.ts");
    return await withStore((own, around, desk) => once(own, around, desk, { view, size }))(quiet, world);
  }
  checkTerminal(world);
  const { interactive } = await import("./interactive.ts");
  return await withStore((own, around, desk) => interactive(own, around, desk, view))(quiet, world);
};

function viewFlag(call: Call): TabId | undefined {
  const text = textFlag(call, "view");
  if (text === undefined) return undefined;
  const found = TABS.find((tab) => tab === text);
  if (found === undefined) throw new UsageError(`--view: ${quoted(text)} is none of ${TABS.join(", ")}`);
  return found;
}

function sizeFlag(call: Call, world: Surroundings): { columns: number; rows: number } {
  const text = textFlag(call, "size");
  if (text === undefined) return world.terminal.size();
  const [, columns, rows] = /^(\d{2,3})x(\d{2,3})$/.exec(text) ?? [];
  if (columns === undefined || rows === undefined)
    throw new UsageError(`--size: ${quoted(text)} is not a size, such as 160x50`);
  return { columns: Number(columns), rows: Number(rows) };
}

/** @throws UsageError that names what does without a terminal */
function checkTerminal({ terminal }: Surroundings): void {
  if (terminal.isOutput() && process.stdin.isTTY) return;
  throw new UsageError(
    "the console needs a terminal, standard input and output are none; see: signalbox ls --watch, or signalbox console --once",
  );
}
