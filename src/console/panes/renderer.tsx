import { EventEmitter } from "node:events";
import { type Instance, render, Text } from "ink";
import { type ReactNode, useCallback, useSyncExternalStore } from "react";
import { StateStore } from "../state/console-state.ts";
import { ThemeContext } from "../theme/Row.tsx";
import type { Theme } from "../theme/theme.ts";
import { Screen, type ScreenOrMessage } from "./Screen.tsx";

/**
 * Renders the components to lines with Ink. Ink does not write to the terminal here, but to a string: it would clear the
 * terminal for every frame as high as the terminal, read keys in its own way, and end with the process.
 */
export class Renderer {
  readonly #sink = new CaptureStream();
  #mounted: { store: StateStore<ShownScreen>; root: ReactNode; instance: Instance } | undefined;

  /** Renders a screen to lines. */
  renderLines(theme: Theme, model: ScreenOrMessage): string[] {
    const { width: columns, height: rows } = model.screen;
    const isOther = this.#sink.columns !== columns || this.#sink.rows !== rows;
    Object.assign(this.#sink, { columns, rows });
    if (isOther) this.#sink.emit("resize");
    this.#show({ theme, model });
    return this.#sink.text.split("\n").slice(0, rows);
  }

  end(): void {
    this.#mounted?.instance.unmount();
  }

  #show(shown: ShownScreen): void {
    if (this.#mounted === undefined) {
      const store = new StateStore(shown);
      const root = <Root store={store} />;
      this.#mounted = { store, root, instance: this.#mount(root) };
      return;
    }
    const { store, root, instance } = this.#mounted;
    store.update(() => shown);
    instance.rerender(root); // the same tree: React only renders what the store has changed, before this returns
  }

  #mount(root: ReactNode): Instance {
    return render(root, {
      stdout: this.#sink as unknown as NodeJS.WriteStream,
      stdin: new SilentInput() as unknown as NodeJS.ReadStream,
      stderr: new CaptureStream() as unknown as NodeJS.WriteStream,
      // Writes every frame as a whole and at once, without comparing it with the one before.
      debug: true,
      interactive: true,
      exitOnCtrlC: false,
      patchConsole: false,
    });
  }
}

/** What is shown. It is kept outside React. */
interface ShownScreen {
  theme: Theme;
  model: ScreenOrMessage;
}

/** Renders the screen in the store, and again whenever it changes. */
function Root({ store }: { store: StateStore<ShownScreen> }) {
  const subscribe = useCallback((onChange: () => void) => store.subscribe(onChange), [store]);
  const { theme, model } = useSyncExternalStore(subscribe, () => store.state);
  return (
    <ThemeContext value={theme}>
      {"message" in model ? <Text>{model.message}</Text> : <Screen model={model} />}
    </ThemeContext>
  );
}

/** Replaces the terminal: keeps the last frame. */
class CaptureStream extends EventEmitter {
  columns = 80;
  rows = 24;
  text = "";
  readonly isTTY = true;
  write = (text: string): boolean => {
    this.text = text;
    return true;
  };
}

/** Replaces the keyboard. */
class SilentInput extends EventEmitter {
  readonly isTTY = false;
}
