/** A real console before an operator: keys go in, the screen comes out. */
import { openTerminal, type Terminal, type TerminalOptions } from "../../../fixtures/console.ts";
import type { Stage } from "./theatre.ts";

export interface SeatOptions extends Pick<TerminalOptions, "columns" | "rows" | "env"> {
  args?: readonly string[];
  /** Where it finds etcd, if not directly. */
  endpoint?: string;
}

/** Opens a console on a stage, and waits until it is live. It ends with the test. */
export async function seat(stage: Stage, options: SeatOptions = {}): Promise<Terminal> {
  const { args = [], endpoint = stage.etcd.clientUrl, env, ...size } = options;
  const terminal = openTerminal({
    ...{ columns: 140, rows: 44, ...size },
    args: ["console", ...args],
    endpoints: [endpoint],
    env: { SIGNALBOX_TRANSPORT: stage.transport, SIGNALBOX_PREFIX: stage.keys.prefix, ...env },
  });
  stage.onFinished(() => terminal.close());
  await terminal.waitFor(args.includes("--plain") ? "live, revision" : /live rev \d+/);
  return terminal;
}

/** Goes to a tab by its name, as a person would: from one to the next. */
export async function toTab(terminal: Terminal, empty: string | RegExp, steps: number): Promise<void> {
  terminal.press(...Array.from({ length: steps }, () => "]"));
  await terminal.waitFor(empty);
}

/** Presses a key; again if the console refuses it because etcd was away just then, as it is on a busy machine. */
export async function pressUntil(terminal: Terminal, key: string, wanted: RegExp): Promise<void> {
  const getText = () => terminal.getScreen().join("\n");
  for (;;) {
    await terminal.waitFor(/live rev \d+/);
    terminal.press(key);
    await terminal.waitFor(
      () => wanted.test(getText()) || getText().includes("etcd is unreachable: changes"),
    );
    if (wanted.test(getText())) return;
    await terminal.waitFor(() => !getText().includes("etcd is unreachable: changes"));
  }
}
