import { innerText, SPEAKERS, withAssigned, withExports } from "../../commands/check/crontab/invocations.ts";
import { type ShellCommand, shellCommands } from "../../fleet/shell-words.ts";
import { changedNames, checkReach, Earlier } from "./earlier.ts";
import type { Edit } from "./edits.ts";
import { holdsMarks, Markers } from "./markers.ts";
import type { Ground } from "./place.ts";
import { Refusal } from "./refusal.ts";
import { baseName, namesTool, startAt } from "./tools.ts";
import { translation } from "./translate.ts";
import { unwrapped } from "./wrappers.ts";

/** What becomes of a shell's line. */
export interface Rewriting {
  edits: readonly Edit[];
  /** Tools whose words were translated, and `run` where a line is ours already. */
  tools: readonly string[];
  notes: readonly string[];
}

const NOTHING: Rewriting = { edits: [], tools: [], notes: [] };
/** Shells in shells are followed so deep. */
const DEPTH = 3;

/** The edits for every tool in a line that cron gives to the shell. @throws Refusal where the line has to stay as it is */
export function rewriteShell(text: string, ground: Ground, depth = DEPTH): Rewriting {
  if (!namesTool(text) && !text.includes("signalbox")) return NOTHING;
  if (holdsMarks(text) || [...ground.variables.values()].some(holdsMarks))
    throw new Refusal("it holds characters for private use");
  const markers = new Markers();
  const commands = commandsOf(text, ground.variables, markers);
  const earlier = new Earlier(ground.variables);
  let { variables } = ground;
  const parts = commands.map((command) => {
    variables = withExports(command, variables);
    earlier.see(command);
    return rewriteCommand({ text, command, markers, earlier }, { ...ground, variables }, depth);
  });
  return {
    edits: parts.flatMap(({ edits }) => edits),
    tools: parts.flatMap(({ tools }) => tools),
    notes: parts.flatMap(({ notes }) => notes),
  };
}

/** As the shell reads them. A variable that the line itself changes has no value here. */
function commandsOf(
  text: string,
  variables: ReadonlyMap<string, string>,
  markers: Markers,
): readonly ShellCommand[] {
  const read = (known: ReadonlyMap<string, string>, stand: Markers) => {
    const commands = shellCommands(text, known, stand.add);
    if ("fault" in commands) throw new Refusal(`the shell would not take it: ${commands.fault}`);
    return commands.value;
  };
  const changed = changedNames(read(variables, new Markers()));
  return read(new Map([...variables].filter(([name]) => !changed.has(name))), markers);
}

/** A command in its line. */
interface Seen {
  text: string;
  command: ShellCommand;
  markers: Markers;
  earlier: Earlier;
}

function rewriteCommand({ text, command, markers, earlier }: Seen, ground: Ground, depth: number): Rewriting {
  const { words } = command;
  const wrapped = unwrapped(words);
  const { start } = wrapped;
  if (start === undefined) return nested(text, command, markers, ground, depth);
  const inner = innerNotes(words, start.at + start.length);
  if (start.tool === "run") return { edits: [], tools: ["run"], notes: inner };
  if (wrapped.isApart) checkReach(start.tool, words.slice(0, start.at), ground.variables);
  const sourced = earlier.notesFor(start.tool, markers);
  const variables = withAssigned(ground.variables, words.slice(0, start.at));
  const place = { text, command, wrapped: { ...wrapped, start }, markers };
  const { edits, notes } = translation(place, { ...ground, variables });
  return {
    edits,
    tools: [start.tool],
    notes: [...notes, ...sourced, ...inner, ...pathNotes(words, start.at, start.length)],
  };
}

/** A tool inside of another keeps its place: two locks were meant, or a move from one to the other is under way. */
function innerNotes(words: readonly string[], from: number): string[] {
  const index = words.findIndex((_, at) => at >= from && startAt(words, at) !== undefined);
  const inner = startAt(words, index);
  if (inner === undefined || inner.tool === "run") return [];
  return [
    `the command itself starts ${inner.tool}, which stays; where both stand for one lock, take it away once every host has this line`,
  ];
}

/** Who called a tool by its path may have had to: cron's own PATH is short. */
function pathNotes(words: readonly string[], at: number, length: number): string[] {
  const word = words[at] ?? "";
  if (length === 2 || !/^\/(?!usr\/bin\/|bin\/)/.test(word)) return [];
  return [
    `${baseName(word)} was called by its path: see that cron's PATH leads to signalbox, or name it with --program`,
  ];
}

/** What a shell is given with `-c`, where its quotes can be kept. */
function nested(
  text: string,
  command: ShellCommand,
  markers: Markers,
  ground: Ground,
  depth: number,
): Rewriting {
  const { words, spans } = command;
  const inner = depth > 0 ? innerText(command) : undefined;
  if (inner === undefined || !namesTool(inner)) return unseen(words, markers);
  const span = spans[words.indexOf(inner)];
  const source = span === undefined ? "" : text.slice(span.start, span.end);
  const mark = source[0] ?? "";
  if (
    span === undefined ||
    !/^['"]$/.test(mark) ||
    source !== `${mark}${inner}${mark}` ||
    /[\\$`"]/.test(mark === '"' ? inner : "")
  )
    throw new Refusal("a tool stands in a text for a shell, with quotes in quotes; put it into a script");
  const variables = isLogin(words) ? new Map<string, string>() : ground.variables;
  const { edits, ...rest } = rewriteShell(inner, { ...ground, variables }, depth - 1);
  return { ...rest, edits: edits.map((edit) => inQuotes(edit, mark, span.start + 1)) };
}

/** `su - ben -c TEXT`: nothing of the crontab's variables is left. */
function isLogin(words: readonly string[]): boolean {
  const at = words.findIndex((word) => /^(?:su|runuser)$/.test(baseName(word)));
  return at >= 0 && words.slice(at + 1).some((word) => /^(?:-|-l|--login)$/.test(word));
}

function inQuotes({ start, end, text }: Edit, mark: string, offset: number): Edit {
  const escaped = mark === "'" ? text.replaceAll("'", "'\\''") : text.replace(/[\\"$`]/g, "\\$&");
  return { start: start + offset, end: end + offset, text: escaped };
}

/** A tool among the words of a program that nothing is known of. */
function unseen(words: readonly string[], markers: Markers): Rewriting {
  const program = unwrapped(words).program;
  const at = words.findIndex((_, index) => index > program && startAt(words, index) !== undefined);
  const start = startAt(words, at);
  const isSpoken = SPEAKERS.test(baseName(words[program] ?? ""));
  if (start === undefined || start.tool === "run" || isSpoken || at + 1 >= words.length) return NOTHING;
  const name = markers.written(baseName(words[program] ?? ""));
  throw new Refusal(`whether ${name} starts ${start.tool} is not known`);
}
