import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openTerminal, type Terminal } from "../fixtures/console.ts";
import { readArguments, refuseArguments } from "./arguments.ts";
import { OPERATOR_ENV } from "./demo/operators.ts";
import { openPlayground } from "./demo/playground.ts";
import { formatAsciicast } from "./record/asciicast.ts";
import { STORIES, type Story } from "./record/stories.ts";

const FOLDER = join(import.meta.dirname, "../docs/recordings");
const SIZE = { columns: 110, rows: 32 };
/** A person types a character of a word, and presses a key after looking at the screen, ms. */
const PACE = { character: 90, key: 900 };
/** The site makes events for this time before the console opens, ms. */
const SETTLE = 15_000;
const PATIENCE = 30_000;

const HELP = `npm run record -- [NAME…]

Records the console on the demo's site while an operator types. Writes docs/recordings/NAME.cast for each story (asciicast 2;
\`asciinema play FILE\` shows it). Names: ${STORIES.map(({ name }) => name).join(", ")} (default: all).`;

const { positionals: wanted } = readArguments(HELP, {});
const unknown = wanted.filter((name) => !STORIES.some((story) => story.name === name));
if (unknown.length > 0) refuseArguments(HELP, `unknown story: ${unknown.join(", ")}`);
const closing: (() => unknown)[] = [];
try {
  const etcd = await openPlayground(1, closing, new AbortController().signal);
  await pause(SETTLE);
  mkdirSync(FOLDER, { recursive: true });
  for (const story of STORIES)
    if (wanted.length === 0 || wanted.includes(story.name)) await recordStory(story, etcd.endpoints);
} finally {
  for (const close of closing.reverse()) await close();
}

async function recordStory(story: Story, endpoints: readonly string[]): Promise<void> {
  const terminal = openTerminal({
    args: ["console", ...(story.args ?? [])],
    ...SIZE,
    endpoints,
    isRecorded: true,
    env: { COLORTERM: "truecolor", COLORFGBG: "15;0", TZ: "UTC", ...OPERATOR_ENV },
  });
  try {
    const markers = await playStory(terminal, story);
    const outputs = [...terminal.recording];
    const text = formatAsciicast({ title: story.title, ...SIZE, outputs, markers });
    writeFileSync(join(FOLDER, `${story.name}.cast`), text);
    const seconds = Math.round((outputs.at(-1)?.at ?? 0) / 1_000);
    console.log(`docs/recordings/${story.name}.cast: ${seconds} s, ${Math.ceil(text.length / 1024)} KiB`);
  } finally {
    await terminal.close();
  }
}

async function playStory(terminal: Terminal, story: Story) {
  const markers = [];
  await terminal.waitFor(/live rev \d+/, PATIENCE);
  for (const { says, keys, shows } of story.steps) {
    markers.push({ at: terminal.recording.at(-1)?.at ?? 0, title: says });
    for (const key of keys) await pressKey(terminal, key);
    await terminal.waitFor(shows, PATIENCE);
    await pause(2 * PACE.key);
  }
  return markers;
}

async function pressKey(terminal: Terminal, key: string): Promise<void> {
  if (!/^".*"$/.test(key)) {
    terminal.press(key);
    return await pause(PACE.key);
  }
  for (const letter of key.slice(1, -1)) {
    terminal.type(letter);
    await pause(PACE.character);
  }
}
