import type { ConsoleFlags } from "../cli/commands/see/console.ts";
import type { Call, CommandExecutor, CommandIo } from "../cli/frame/command.ts";
import { createStoreCommand } from "../cli/frame/store-command.ts";
import { UsageError } from "../core/base/errors.ts";
import { quoteText } from "../core/base/text.ts";
import { TABS, type TabId } from "./state/console-state.ts";
import { TerminalLoan } from "./terminal/terminal-session.ts";

/** Runs `signalbox console`: prints one screen with `--once`, otherwise runs the console until the user leaves. */
export const execute: CommandExecutor<ConsoleFlags> = async (call, io) => {
  const view = parseViewFlag(call);
  const isPlain = call.flags.plain !== undefined || (io.env.TERM === "dumb" && !call.flags.once);
  const flags = isPlain ? { ...call.flags, plain: true as const } : call.flags;
  const quiet = { ...call, flags, verbosity: -1 }; // only the screen may be written
  if (call.flags.once) {
    const size = parseSizeFlag(call, io);
    const { printConsoleOnce } = await import("./once.tsx");
    return await createStoreCommand<ConsoleFlags>((context) =>
      printConsoleOnce(quiet, io, context, { view, size }),
    )(quiet, io);
  }
  checkTerminal(io);
  const { runInteractiveConsole } = await import("./interactive.ts");
  const loan = new TerminalLoan();
  const lent = loan.wrapIo(io);
  return await createStoreCommand<ConsoleFlags>((context) =>
    runInteractiveConsole(quiet, lent, context, { view, loan }),
  )(quiet, lent);
};

function parseViewFlag(call: Call<ConsoleFlags>): TabId | undefined {
  const text = call.flags.view;
  if (text === undefined) return undefined;
  const found = TABS.find((tab) => tab === text);
  if (found === undefined)
    throw new UsageError(`--view must be one of ${TABS.join(", ")}; got ${quoteText(text)}`);
  return found;
}

function parseSizeFlag(call: Call<ConsoleFlags>, io: CommandIo): { columns: number; rows: number } {
  const text = call.flags.size;
  if (text === undefined) return io.terminal.getSize();
  const [, columns, rows] = /^(\d{2,3})x(\d{2,3})$/.exec(text) ?? [];
  if (columns === undefined || rows === undefined)
    throw new UsageError(`--size must be COLUMNSxROWS, such as 160x50; got ${quoteText(text)}`);
  return { columns: Number(columns), rows: Number(rows) };
}

/** @throws UsageError that names commands that work without a terminal */
function checkTerminal({ terminal }: CommandIo): void {
  if (terminal.isOutput() && process.stdin.isTTY) return;
  throw new UsageError(
    "the console needs a terminal as standard input and output; without one, use signalbox ls --watch or signalbox console --once",
  );
}
