/** An operator at a console: types into a real terminal, and counts what a human would have to press. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "vitest";
import { openConsole } from "../../../../fixtures/cluster/open-console.ts";
import type { TestNamespace } from "../../../../fixtures/cluster/test-namespace.ts";
import type { ScreenCondition } from "../../../../fixtures/console/wait.ts";
import type { Terminal } from "../../../../fixtures/console.ts";

const DOCS = resolve(import.meta.dirname, "../../../../docs/console.md");

/** Reads the table of stories in the documentation: keystrokes by the name of the story. */
export function readDocumentedStories(): ReadonlyMap<string, number> {
  const rows = readFileSync(DOCS, "utf8").matchAll(/^\| ([^|]+) \| `[^|]+` \| (\d+) \|$/gm);
  return new Map([...rows].map(([, name = "", count]) => [name.trim(), Number(count)]));
}

export class Operator {
  readonly terminal: Terminal;
  /** Typed characters and other keys; Enter is one. */
  keystrokes = 0;

  constructor(terminal: Terminal) {
    this.terminal = terminal;
  }

  /** Presses keys, then waits until the screen shows their effect. */
  async press(chords: readonly string[], shows: ScreenCondition<Terminal>): Promise<void> {
    this.keystrokes += chords.length;
    this.terminal.press(...chords);
    await this.terminal.waitFor(shows);
  }

  /** Types a text, then waits until the screen shows its effect. */
  async type(text: string, shows: string | RegExp): Promise<void> {
    this.keystrokes += [...text].length;
    this.terminal.type(text);
    await this.terminal.waitFor(shows);
  }
}

/** Opens a console as it opens by default. */
export function openOverview(namespace: TestNamespace): Promise<Terminal> {
  return openConsole(namespace, { columns: 120, rows: 40, view: "overview" });
}

/**
 * Plays a story on a console as it opens by default, at 120x40. The number of keystrokes must be the one in the
 * documentation: a change that costs operators more is seen, and so is one that saves some.
 */
export async function playStory(
  namespace: TestNamespace,
  name: string,
  play: (operator: Operator) => Promise<void>,
  open: (namespace: TestNamespace) => Promise<Terminal> = openOverview,
): Promise<void> {
  const operator = new Operator(await open(namespace));
  await operator.terminal.waitFor(/live rev \d+/);
  await play(operator);
  expect({ [name]: operator.keystrokes }).toEqual({ [name]: readDocumentedStories().get(name) });
}
