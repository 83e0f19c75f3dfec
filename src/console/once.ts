import { EXIT } from "../base/errors.ts";
import { stripStyles } from "../base/text.ts";
import type { ConsoleFlags } from "../commands/see/console.ts";
import type { Call, CommandIo } from "../commands/spec.ts";
import type { CommandContext } from "../commands/store-command.ts";
import { ConsoleApp } from "./console-app.ts";
import { Renderer } from "./panes/renderer.tsx";
import { buildScreenModel } from "./panes/Screen.tsx";
import type { TabId } from "./state/console-state.ts";

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
    redraw: () => {},
    getAgeStep: () => 1,
    isLineSlow: () => false,
    runWhenShown: () => {}, // nobody presses a key
    quit: () => {},
  });
  if (options.view !== undefined) app.update((state) => ({ ...state, tab: options.view ?? state.tab }));
  const deadline = context.clock.now() + context.settings.connectTimeout;
  try {
    app.begin();
    while (app.liveView.connection.kind === "opening" || app.liveView.clusterHealth === undefined) {
      context.signal.throwIfAborted();
      if (context.clock.now() > deadline) break;
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, 200);
      });
    }
    app.liveView.catchUp();
    app.refreshDerivedState();
    buildScreenModel(app); // the first picture tells the table how wide it wants to be
    const renderer = new Renderer();
    const lines = renderer.renderLines(app.theme, buildScreenModel(app));
    renderer.end();
    const shown = io.terminal.isOutput()
      ? lines.map(app.theme.finishLine)
      : lines.map(stripStyles).map(app.theme.finishLine);
    io.writeOutput(`${shown.map((line) => line.trimEnd()).join("\n")}\n`);
    return app.liveView.connection.kind === "live" ? EXIT.ok : EXIT.unreachable;
  } finally {
    app.end();
  }
}
