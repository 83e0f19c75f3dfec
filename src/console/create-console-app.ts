import { COMMANDS } from "../commands/registry/registry.ts";
import type { CommandIo } from "../commands/spec.ts";
import type { CommandContext } from "../commands/store-command.ts";
import { ACTION_HANDLERS } from "./actions/action-handlers.ts";
import { listKeyActions } from "./actions/keys/key-actions.ts";
import { createKeymap } from "./actions/keys/keymap.ts";
import { ConsoleApp, type ConsolePorts } from "./console-app.ts";
import type { ConsoleState, TabId } from "./state/console-state.ts";
import { restoreState, toConsolePreferences } from "./state/preferences.ts";
import { getPreferencesPath, readPreferences, writePreferences } from "./state/preferences-file.ts";
import { createThemeLookup } from "./theme/choose-theme.ts";

/** Builds the console from its settings. @param view  the tab to begin with; undefined: the last one */
export function createConsoleApp(ports: ConsolePorts, view: TabId | undefined): ConsoleApp {
  const { context, io, call } = ports;
  const { keymap, findings } = createKeymap(listKeyActions(COMMANDS), context.settings.keyBindings);
  const getThemeByName = createThemeLookup(io, { ascii: call.flags.ascii === true });
  const options = { keymap, getThemeByName, handlers: ACTION_HANDLERS };
  const state = loadInitialState(io, context);
  const app = new ConsoleApp(ports, options, { ...state, tab: view ?? state.tab });
  for (const finding of findings) app.log.add(finding);
  const [first] = findings;
  if (first !== undefined) app.showToast(first, "problem");
  return app;
}

/** Stores the preferences for the next session. */
export function savePreferences({ context, state }: ConsoleApp, io: CommandIo): void {
  writePreferences(getPreferencesPath(io, context.settings), toConsolePreferences(state));
}

/** Loads the stored state, with the theme from the settings. */
function loadInitialState(io: CommandIo, { settings }: CommandContext): ConsoleState {
  const state = restoreState(readPreferences(getPreferencesPath(io, settings)));
  return settings.theme === "auto" ? state : { ...state, theme: settings.theme };
}
