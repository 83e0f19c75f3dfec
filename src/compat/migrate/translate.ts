import { SignalboxError } from "../../base/errors.ts";
import type { AsRun } from "../as-run.ts";
import { checkAccepted } from "./accepted.ts";
import { connected, credentialsOf, unconnected } from "./connection.ts";
import type { Edit } from "./edits.ts";
import { hasMark, type Markers, marksIn, shifted, unshifted } from "./markers.ts";
import { type Ground, type Place, range, sourceOf } from "./place.ts";
import { Refusal } from "./refusal.ts";
import { FRONT_ENDS, OWN_VARIABLES, TOOLS } from "./tools.ts";

export interface Translation {
  edits: readonly Edit[];
  notes: readonly string[];
}

/** The edits that make a tool's words those of `signalbox run`; the command's own text stays. @throws Refusal */
export function translation(place: Place, ground: Ground): Translation {
  const { command, wrapped, markers } = place;
  const { start } = wrapped;
  const words = command.words.slice(start.at + start.length);
  const asRun = connected(start.tool, meaningOf(start.tool, words, unconnected(ground), markers), ground);
  checkAccepted(asRun, markers);
  const { credentials, notes } = credentialsOf(asRun, place);
  if (ground.around && start.length === 2)
    throw new Refusal(
      `signalbox ${start.tool} takes the lock of signalbox run already; nothing is to go around it`,
    );
  const edits = ground.around ? [wrapping(place, ground, asRun)] : replacement(place, ground, asRun, words);
  return {
    edits: [...credentials, ...edits],
    notes: [
      ...asRun.notes.map((note) => markers.written(note)),
      ...notes,
      ...aroundNotes(start.tool, ground),
    ],
  };
}

/** Through a link, the tool would wait for the lock that stands around it. */
function aroundNotes(tool: string, { around }: Ground): string[] {
  if (!around || !FRONT_ENDS.includes(tool)) return [];
  return [
    `${tool} must be the old one there: one that leads to signalbox takes the same lock, and finds it taken`,
  ];
}

function replacement(place: Place, ground: Ground, asRun: AsRun, words: readonly string[]): Edit[] {
  const { command, wrapped, markers } = place;
  const kept = keptTail(words, asRun.command, markers);
  const bound = command.words.length - kept;
  const fresh = asRun.command.slice(0, asRun.command.length - kept);
  checkPlace(place, bound);
  checkWords(place, bound, fresh);
  const text = [newStart(place, ground, asRun), ...fresh.map((word) => markers.word(word))].join(" ");
  return [...ownAssignments(place), { ...range(place, wrapped.start.at, bound), text }];
}

function wrapping(place: Place, ground: Ground, asRun: AsRun): Edit {
  const { start } = range(place, place.wrapped.start.at, place.wrapped.start.at + 1);
  return { start, end: start, text: `${newStart(place, ground, asRun)} ` };
}

function newStart(place: Place, { program }: Ground, { options }: AsRun): string {
  const { start } = place.wrapped;
  const own = start.length === 2 ? sourceOf(place, start.at) : program;
  return [own, "run", ...options.map((word) => place.markers.word(word)), "--"].join(" ");
}

/** What the tool would do; undefined values pass through it, and where they do not, nobody can know. */
function meaningOf(tool: string, words: readonly string[], ground: Ground, markers: Markers): AsRun {
  const translate = TOOLS[tool];
  if (translate === undefined) throw new Refusal(`${tool} is not known`);
  try {
    const asRun = translate(words, ground.variables, ground.files);
    if (!words.some(hasMark) && ![...ground.variables.values()].some(hasMark)) return asRun;
    const variables = new Map([...ground.variables].map(([name, value]) => [name, shifted(value)]));
    const other = translate(words.map(shifted), variables, ground.files);
    const isSame = JSON.stringify(asRun.options) === unshifted(JSON.stringify(other.options));
    if (isSame && JSON.stringify(asRun.command) === unshifted(JSON.stringify(other.command))) return asRun;
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    throw new Refusal(markers.written(error.message));
  }
  const unknown = words.filter(hasMark).map((word) => markers.written(word));
  const remedy = tool in OWN_VARIABLES ? "name the lock in CRONLOCK_KEY" : "write it out";
  throw new Refusal(
    `what ${tool} makes of ${unknown.join(" ")} is known only when the shell runs it; ${remedy}`,
  );
}

/** How many words at the end are the same in both. */
function commonTail(words: readonly string[], command: readonly string[]): number {
  let length = 0;
  while (length < Math.min(words.length, command.length) && words.at(-1 - length) === command.at(-1 - length))
    length += 1;
  return length;
}

/** Behind words that are new, an expansion without quotes would not stay the one word that it is meant to be. */
function keptTail(words: readonly string[], command: readonly string[], markers: Markers): number {
  const length = commonTail(words, command);
  if (length === command.length) return length;
  const isLoose = (word: string) => marksIn(word).some((mark) => markers.of(mark)?.kind !== "quoted");
  return length - 1 - words.slice(words.length - length).findLastIndex(isLoose);
}

/** Nothing but the tool's words may stand in the text that goes: no redirection, no half of a variable. */
function checkPlace(place: Place, bound: number): void {
  const { text, command, wrapped } = place;
  const { start } = wrapped;
  const [last, next] = [command.spans[bound - 1], command.spans[bound]];
  if (next !== undefined && last?.isPart && next.isPart && last.end > next.start)
    throw new Refusal(
      `${sourceOf(place, bound)} holds words of ${start.tool} and of the command; write them out`,
    );
  for (let index = start.at + 1; index < bound; index += 1) {
    const between = text.slice(command.spans[index - 1]?.end, command.spans[index]?.start);
    if (/[^ \t]/.test(between))
      throw new Refusal(
        `${between.trim()} stands among the words of ${start.tool}; put it at the end of the command`,
      );
  }
}

/** An expansion without quotes may come to any number of words, options among them. */
function checkWords({ command, wrapped, markers }: Place, bound: number, fresh: readonly string[]): void {
  const passed = new Set(fresh.flatMap(marksIn));
  for (const word of command.words.slice(wrapped.start.at + wrapped.start.length, bound)) {
    const unknown = word.length === 1 ? markers.of(word) : undefined;
    if (unknown?.kind === "bare" && !passed.has(word))
      throw new Refusal(
        `${unknown.source} may come to any number of words; put it in quotes, or set it in the crontab`,
      );
  }
}

/** `CRONLOCK_KEY=x` before the tool speaks to it alone. */
function ownAssignments({ command, wrapped }: Place): Edit[] {
  const own = OWN_VARIABLES[wrapped.start.tool];
  if (own === undefined) return [];
  return command.words.slice(0, wrapped.start.at).flatMap((word, index) => {
    const [span, next] = [command.spans[index], command.spans[index + 1]];
    const isOwn = word.includes("=") && own.test(word) && span !== undefined && next !== undefined;
    return isOwn ? [{ start: span.start, end: next.start, text: "" }] : [];
  });
}
