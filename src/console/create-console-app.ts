import { COMMANDS } from "../commands/registry/registry.ts";
import type { Call, CommandIo } from "../commands/spec.ts";
import type { CommandContext } from "../commands/store-command.ts";
import { ACTION_HANDLERS } from "./actions/action-handlers.ts";
import { ConsoleApp } from "./console-app.ts";
import type { OpenedContext } from "./data/open-context.ts";
import { listKeyActions } from "./parts/key-actions.ts";
import { createKeymap } from "./parts/keymap.ts";
import type { ContextAccess, TerminalControl } from "./parts/parts.ts";
import type { ConsoleState } from "./state/console-state.ts";
import { restoreState } from "./state/preferences.ts";
import { getPreferencesPath, readPreferences } from "./state/preferences-file.ts";
import { createThemeLookup } from "./theme/choose-theme.ts";

/** Builds the console from its settings. */
export function createConsoleApp(ports: {
  call: Call;
  io: CommandIo;
  context: CommandContext;
  /** As the console was started, if another context is shown now. */
  first?: OpenedContext;
  /** Whether the background of the terminal is light; undefined if it is not known. */
  getIsLight?(): boolean | undefined;
  repaint(): void;
  suspend(): void;
  lendTerminal: TerminalControl["lendTerminal"];
  switchContext: ContextAccess["switchContext"];
  redraw(): void;
  getAgeStep(): number;
  isLineSlow(): boolean;
  runWhenShown(action: () => void): void;
  onFirstRead?(): void;
  quit(code: number): void;
}): ConsoleApp {
  const { context, io, call } = ports;
  const { keymap, findings } = createKeymap(listKeyActions(COMMANDS), context.settings.keyBindings);
  const getThemeByName = createThemeLookup(io, {
    ascii: call.flags.ascii === true,
    getConditions: () => ({ isLight: ports.getIsLight?.(), isSlow: ports.isLineSlow() }),
  });
  const app = new ConsoleApp(
    {
      ...ports,
      keymap,
      getThemeByName,
      handlers: ACTION_HANDLERS,
      isReadOnly: context.settings.readOnly,
      preferencesPath: getPreferencesPath(io, context.settings),
    },
    loadInitialState(io, context),
  );
  for (const finding of findings) app.log.add(finding);
  const [first] = findings;
  if (first !== undefined) app.showToast(first, "problem");
  return app;
}

/** Loads the stored state, with the theme from the settings. */
function loadInitialState(io: CommandIo, { settings }: CommandContext): ConsoleState {
  const state = restoreState(readPreferences(getPreferencesPath(io, settings)));
  return settings.theme === "auto" ? state : { ...state, configuredTheme: settings.theme };
}
