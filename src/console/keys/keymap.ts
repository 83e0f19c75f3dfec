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

/**
 * The keys, with what a user wants otherwise.
 * @returns the keymap, and what is wrong with the wishes or follows from them, a sentence each: whatever is, the rest holds
 */
export function keymapOf(
  actions: readonly Action[],
  wishes: KeyWishes,
): { keymap: Keymap; findings: string[] } {
  const findings: string[] = [];
  const wanted = new Map<string, readonly string[]>();
  for (const [id, keys] of Object.entries(wishes)) {
    const action = actions.find((one) => one.id === id);
    if (action === undefined) findings.push(unknown(id, actions));
    else wanted.set(id, chordsOf(action, keys, findings));
  }
  const bound = new Map<string, string>();
  const wished = actions.filter(({ id }) => wanted.has(id));
  for (const { id } of wished) bind(bound, id, wanted.get(id) ?? [], findings, wanted);
  for (const { id, keys } of actions) if (!wanted.has(id)) bind(bound, id, keys, findings, wanted);
  return { keymap: mapOf(actions, bound), findings };
}

function mapOf(actions: readonly Action[], bound: ReadonlyMap<string, string>): Keymap {
  const contexts = new Map(actions.map(({ id, context }) => [id, context]));
  const shown = Map.groupBy([...bound], ([, id]) => id);
  return {
    lookup(chord, context) {
      const id = chord === ALWAYS ? "quit" : bound.get(chord);
      return id !== undefined && context === "global" && contexts.get(id) === "list" ? undefined : id;
    },
    keysOf: (id) => (shown.get(id) ?? []).map(([chord]) => chordText(chord)),
  };
}

function chordsOf(action: Action, keys: string | readonly string[], findings: string[]): string[] {
  return (typeof keys === "string" ? [keys] : keys).flatMap((text) => {
    const parsed = parseChord(text);
    const fault = "fault" in parsed ? parsed.fault : refusal(action, parsed.value);
    if (fault !== undefined) findings.push(`keyBindings: ${action.id}: ${fault}`);
    return "value" in parsed && fault === undefined ? [parsed.value] : [];
  });
}

function refusal({ isChange }: Action, chord: string): string | undefined {
  if (chord === ALWAYS) return "Ctrl+C always quits";
  if (!isChange || !/^ctrl\+/.test(chord)) return undefined;
  return `${chordText(chord)} is refused: what changes something is on no key with Ctrl, for those are hit by mistake`;
}

/** What the user wants comes first; whoever had the key before loses it, and that is said. */
function bind(
  bound: Map<string, string>,
  id: string,
  chords: readonly string[],
  findings: string[],
  wanted: ReadonlyMap<string, unknown>,
): void {
  for (const chord of chords) {
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
  const meant = nearest(
    id,
    actions.map((action) => action.id),
  );
  return `keyBindings: ${quoted(id)} is nothing that a key can do${meant === undefined ? "; see docs/console.md" : `; did you mean ${quoted(meant)}?`}`;
}
