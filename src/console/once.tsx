import type { ConsoleFlags } from "../cli/commands/see/console.ts";
import type { Call, CommandIo } from "../cli/frame/command.ts";
import type { CommandContext } from "../cli/frame/store-command.ts";
import { addMs } from "../core/base/clock.ts";
import { EXIT } from "../core/base/errors.ts";
import { stripStyles } from "../core/base/text.ts";
import { renderLines } from "./component-tree.tsx";
import { ConsoleApp } from "./console-app.ts";
import { Screen } from "./panes/Screen.tsx";
import type { TabId } from "./state/console-state.ts";
import { ERASE_LINE, paintBase } from "./terminal/output-sequences.ts";

/** Prints one screen as text, without cursor movement. @returns the exit code */
export async function printConsoleOnce(
  call: Call<ConsoleFlags>,
  io: CommandIo,
  context: CommandContext,
  options: { view: TabId | undefined; size: { columns: number; rows: number } },
): Promise<number> {
  const around = { ...io, terminal: { ...io.terminal, getSize: () => options.size } };
  let wake = () => {};
  const app = new ConsoleApp({
    call,
    io: around,
    context,
    repaint: () => wake(),
    suspend: () => {},
    lendTerminal: () => Promise.reject(new Error("one screen has no terminal")),
    switchContext: () => {},
    act: () => {},
    redraw: () => {},
    getIsQuiet: () => false,
    runWhenShown: () => {}, // no key is pressed
    getScreenNumber: () => 0,
    quit: () => {},
  });
  if (options.view !== undefined) app.update((state) => ({ ...state, tab: options.view ?? state.tab }));
  const deadline = addMs(context.clock.now(), context.settings.connectTimeout);
  try {
    app.begin();
    app.tablePane.etcd.show(app.state.tab);
    const { liveView } = app;
    while (
      liveView.connection.kind === "opening" ||
      liveView.clusterHealth === undefined ||
      app.isReadingRows
    ) {
      context.signal.throwIfAborted();
      if (context.clock.now() > deadline) break;
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, 200);
      });
    }
    app.liveView.catchUp();
    app.refreshDerivedState();
    renderLines(<Screen />, app); // the first frame determines the wanted width of the table
    const lines = renderLines(<Screen />, app);
    const { finishLine, base } = app.theme;
    const shown = lines.map((line) => finishLine(line.trimEnd()));
    const finished = io.terminal.isOutput()
      ? shown.map((line) => paintBase(`${ERASE_LINE}${line}`, base))
      : shown.map((line) => stripStyles(line).trimEnd());
    io.writeOutput(`${finished.join("\n")}\n`);
    return app.liveView.connection.kind === "live" ? EXIT.ok : EXIT.unreachable;
  } finally {
    app.end();
  }
}
