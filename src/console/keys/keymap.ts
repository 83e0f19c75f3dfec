import { nearest, quoted } from "../../base/text.ts";
import type { Action } from "./actions.ts";
import { chordText, parseChord } from "./chords.ts";

/** Which key does what. */
export interface Keymap {
  /** @param context  `list` where there is one under the cursor; then global keys hold too */
  lookup(chord: string, context: Action["context"]): string | undefined;
  /** The keys of an action, for people; none for one that has none. */
  keysOf(id: string): readonly string[];
}

/** Keys by the action that they are for, as the configuration file has them: one, several, or none. */
export type KeyWishes = Readonly<Record<string, string | readonly string[]>>;

/** Always quits, so that nobody is caught. */
const ALWAYS = "ctrl+c";

/** What is said of the configuration, and which actions it binds. */
interface Reading {
  findings: string[];
  /** By action: its chords, where they are not the usual ones. */
  wanted: ReadonlyMap<string, readonly string[]>;
}

/**
 * The keys, with what a user wants otherwise.
 * @returns the keymap, and what is wrong with the wishes or follows from them, a sentence each: whatever is, the rest holds
 */
export function keymapOf(
  actions: readonly Action[],
  wishes: KeyWishes,
): { keymap: Keymap; findings: string[] } {
  const reading = read(actions, wishes);
  const bound = new Map<string, string>();
  const isWanted = ({ id }: Action) => reading.wanted.has(id);
  for (const action of actions.filter(isWanted)) bind(bound, action, reading);
  for (const action of actions.filter((one) => !isWanted(one))) bind(bound, action, reading);
  return { keymap: mapOf(actions, bound), findings: reading.findings };
}

function read(actions: readonly Action[], wishes: KeyWishes): Reading {
  const findings: string[] = [];
  const wanted = new Map<string, readonly string[]>();
  for (const [id, keys] of Object.entries(wishes)) {
    const action = actions.find((one) => one.id === id);
    if (action === undefined) {
      findings.push(unknown(id, actions));
      continue;
    }
    const texts = typeof keys === "string" ? [keys] : keys;
    const chords = texts.flatMap((text) => chordOf(action, text, findings));
    // An empty list takes all its keys away; a list of faults would do so by mistake.
    if (chords.length > 0 || texts.length === 0) wanted.set(id, chords);
  }
  return { findings, wanted };
}

function mapOf(actions: readonly Action[], bound: ReadonlyMap<string, string>): Keymap {
  const contexts = new Map(actions.map(({ id, context }) => [id, context]));
  const shown = Map.groupBy([...bound], ([, id]) => id);
  return {
    lookup(chord, context) {
      const id = chord === ALWAYS ? "quit" : bound.get(chord);
      return id !== undefined && context === "global" && contexts.get(id) === "list" ? undefined : id;
    },
    keysOf(id) {
      const chords = (shown.get(id) ?? []).map(([chord]) => chord);
      return (id === "quit" && chords.length === 0 ? [ALWAYS] : chords).map(chordText);
    },
  };
}

function chordOf(action: Action, text: string, findings: string[]): string[] {
  const parsed = parseChord(text);
  const fault = "fault" in parsed ? parsed.fault : refusal(action, parsed.value);
  if (fault !== undefined) findings.push(`keyBindings: ${action.id}: ${fault}`);
  return "value" in parsed && fault === undefined ? [parsed.value] : [];
}

function refusal({ isChange }: Action, chord: string): string | undefined {
  if (chord === ALWAYS) return "Ctrl+C always quits";
  if (!isChange || !/^ctrl\+/.test(chord)) return undefined;
  return `${chordText(chord)} is refused: what changes something is on no key with Ctrl, for those are hit by mistake`;
}

/** What the user wants comes first; whoever had the key before loses it, and that is said. */
function bind(bound: Map<string, string>, { id, keys }: Action, { findings, wanted }: Reading): void {
  for (const chord of wanted.get(id) ?? keys) {
    const other = bound.get(chord);
    if (other === undefined) bound.set(chord, id);
    else if (other !== id) {
      const whose = wanted.has(id)
        ? `${other} and ${id} are both bound to it; ${other} has it`
        : `it is ${other} now, no longer ${id}`;
      findings.push(`keyBindings: ${chordText(chord)}: ${whose}`);
    }
  }
}

function unknown(id: string, actions: readonly Action[]): string {
  const ids = actions.map((action) => action.id);
  const meant = nearest(id, ids);
  const remedy = meant === undefined ? `there are ${ids.join(", ")}` : `did you mean ${quoted(meant)}?`;
  return `keyBindings: ${quoted(id)} is nothing that a key can do; ${remedy}`;
}
