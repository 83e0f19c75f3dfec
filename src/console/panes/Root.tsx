import { Text } from "ink";
import { useCallback, useSyncExternalStore } from "react";
import type { StateStore } from "../state/store.ts";
import { ThemeContext } from "../theme/ThemeContext.tsx";
import type { Theme } from "../theme/theme.ts";
import { Screen } from "./Screen.tsx";
import type { ScreenOrMessage } from "./screen-model.ts";

/** What is shown. It is kept outside React. */
export interface ShownScreen {
  theme: Theme;
  model: ScreenOrMessage;
}

/** Renders the screen in the store, and again whenever it changes. */
export function Root({ store }: { store: StateStore<ShownScreen> }) {
  const subscribe = useCallback((onChange: () => void) => store.subscribe(onChange), [store]);
  const { theme, model } = useSyncExternalStore(subscribe, () => store.state);
  return (
    <ThemeContext value={theme}>
      {"message" in model ? <Text>{model.message}</Text> : <Screen model={model} />}
    </ThemeContext>
  );
}
