import { EXIT } from "../base/errors.ts";
import type { Call, Surroundings } from "../commands/spec.ts";
import type { Desk } from "../commands/with-store.ts";
import { assemble } from "./assemble.ts";
import { frameOf } from "./frame/frame.ts";
import type { TabId } from "./state/state.ts";
import { unpainted } from "./theme/sgr.ts";
import { Renderer } from "./view/renderer.tsx";

/** Prints one screen as text, without anything that moves the cursor. @returns the exit code */
export async function once(
  call: Call,
  world: Surroundings,
  desk: Desk,
  wish: { view: TabId | undefined; size: { columns: number; rows: number } },
): Promise<number> {
  const around = { ...world, terminal: { ...world.terminal, size: () => wish.size } };
  let wake = () => {};
  const app = assemble({
    call,
    world: around,
    desk,
    repaint: () => wake(),
    suspend: () => {},
    redraw: () => {},
    quit: () => {},
  });
  if (wish.view !== undefined) app.update((state) => ({ ...state, tab: wish.view ?? state.tab }));
  const deadline = desk.clock.now() + desk.settings.connectTimeout;
  try {
    app.begin();
    while (app.sight.standing.kind === "opening" || app.sight.pulse === undefined) {
      desk.signal.throwIfAborted();
      if (desk.clock.now() > deadline) break;
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, 200);
      });
    }
    app.settle();
    const renderer = new Renderer();
    const lines = renderer.lines(frameOf(app));
    renderer.end();
    const shown = world.terminal.isOutput()
      ? lines.map(app.theme.finished)
      : lines.map(unpainted).map(app.theme.finished);
    world.out(`${shown.map((line) => line.trimEnd()).join("\n")}\n`);
    return app.sight.standing.kind === "live" ? EXIT.ok : EXIT.unreachable;
  } finally {
    app.end();
  }
}
