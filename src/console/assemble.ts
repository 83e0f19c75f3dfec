import { COMMANDS } from "../commands/registry.ts";
import type { Call, Surroundings } from "../commands/spec.ts";
import type { Desk } from "../commands/with-store.ts";
import { HANDLERS } from "./app/actions.ts";
import { ConsoleApp } from "./app/console-app.ts";
import { actionsOf } from "./keys/actions.ts";
import { keymapOf } from "./keys/keymap.ts";
import { arranged, arrangementOf } from "./memory/arrangement.ts";
import { memoryPath, recalled, remember } from "./memory/file.ts";
import type { State } from "./state/state.ts";
import { themesFor } from "./theme/choose.ts";

/** Puts the console together from its settings. */
export function assemble(ports: {
  call: Call;
  world: Surroundings;
  desk: Desk;
  repaint(): void;
  suspend(): void;
  redraw(): void;
  quit(code: number): void;
}): ConsoleApp {
  const { desk, world, call } = ports;
  const { keymap, findings } = keymapOf(actionsOf(COMMANDS), desk.settings.keyBindings);
  const themeOf = themesFor(world, { ascii: call.flags.ascii === true });
  const app = new ConsoleApp(
    { ...ports, keymap, themeOf, handlers: HANDLERS, isReadOnly: desk.settings.readOnly },
    initial(world, desk),
  );
  for (const finding of findings) app.log.add(finding);
  const [first] = findings;
  if (first !== undefined) app.toast(first, "problem");
  return app;
}

/** Keeps the arrangement for the next time. */
export function keepArrangement(app: ConsoleApp): void {
  remember(memoryPath(app.world, app.desk.settings), arrangementOf(app.state));
}

/** As it was left, but in the colours that are asked for. */
function initial(world: Surroundings, { settings }: Desk): State {
  const state = arranged(recalled(memoryPath(world, settings)));
  return settings.theme === "auto" ? state : { ...state, theme: settings.theme };
}
