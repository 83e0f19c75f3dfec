import { findNearest, quoteText } from "../../base/text.ts";
import { formatChord, parseChord } from "./chords.ts";
import type { KeyAction } from "./key-actions.ts";

/** Maps keys to actions. */
export interface Keymap {
  /** @param context  `list` if a list is under the cursor; global keys then work too */
  findAction(chord: string, context: KeyAction["context"]): string | undefined;
  /** The keys of an action, as displayed; empty if it has none. */
  getKeyLabels(id: string): readonly string[];
}

/** Keys by action, as in the configuration file: one, several, or none. */
export type KeyBindings = Readonly<Record<string, string | readonly string[]>>;

/** Always quits, so that the user can always leave. */
const ALWAYS = "ctrl+c";

/** The parsed configuration: its findings and the actions it binds. */
interface ParsedBindings {
  findings: string[];
  /** Configured chords by action. */
  wanted: ReadonlyMap<string, readonly string[]>;
}

/**
 * Builds the keymap from the default keys and the user's bindings.
 * @returns the keymap, and one sentence for each invalid or conflicting binding; the other bindings still apply
 */
export function createKeymap(
  actions: readonly KeyAction[],
  bindings: KeyBindings,
): { keymap: Keymap; findings: string[] } {
  const parsed = parseBindings(actions, bindings);
  const bound = new Map<string, string>();
  const isWanted = ({ id }: KeyAction) => parsed.wanted.has(id);
  for (const action of actions.filter(isWanted)) bind(bound, action, parsed);
  for (const action of actions.filter((one) => !isWanted(one))) bind(bound, action, parsed);
  return { keymap: buildKeymap(actions, bound), findings: parsed.findings };
}

function parseBindings(actions: readonly KeyAction[], bindings: KeyBindings): ParsedBindings {
  const findings: string[] = [];
  const wanted = new Map<string, readonly string[]>();
  for (const [id, keys] of Object.entries(bindings)) {
    const action = actions.find((one) => one.id === id);
    if (action === undefined) {
      findings.push(formatUnknownAction(id, actions));
      continue;
    }
    const texts = typeof keys === "string" ? [keys] : keys;
    const chords = texts.flatMap((text) => parseActionChord(action, text, findings));
    // An empty list removes all keys of the action. A list with only invalid keys must not do so by mistake.
    if (chords.length > 0 || texts.length === 0) wanted.set(id, chords);
  }
  return { findings, wanted };
}

function buildKeymap(actions: readonly KeyAction[], bound: ReadonlyMap<string, string>): Keymap {
  const contexts = new Map(actions.map(({ id, context }) => [id, context]));
  const shown = Map.groupBy([...bound], ([, id]) => id);
  return {
    findAction(chord, context) {
      const id = chord === ALWAYS ? "quit" : bound.get(chord);
      return id !== undefined && context === "global" && contexts.get(id) === "list" ? undefined : id;
    },
    getKeyLabels(id) {
      const chords = (shown.get(id) ?? []).map(([chord]) => chord);
      return (id === "quit" && chords.length === 0 ? [ALWAYS] : chords).map(formatChord);
    },
  };
}

function parseActionChord(action: KeyAction, text: string, findings: string[]): string[] {
  const parsed = parseChord(text);
  const fault = "fault" in parsed ? parsed.fault : findRefusal(action, parsed.value);
  if (fault !== undefined) findings.push(`keyBindings: ${action.id}: ${fault}`);
  return "value" in parsed && fault === undefined ? [parsed.value] : [];
}

function findRefusal({ isChange }: KeyAction, chord: string): string | undefined {
  if (chord === ALWAYS) return "Ctrl+C always quits";
  if (!isChange || !/^ctrl\+/.test(chord)) return undefined;
  return `${formatChord(chord)} is refused: actions that change something cannot be on a key with Ctrl, since these are easily hit by mistake`;
}

/** Binds the keys of an action. The user's bindings come first; an action that loses a key is reported. */
function bind(
  bound: Map<string, string>,
  { id, keys }: KeyAction,
  { findings, wanted }: ParsedBindings,
): void {
  for (const chord of wanted.get(id) ?? keys) {
    const other = bound.get(chord);
    if (other === undefined) bound.set(chord, id);
    else if (other !== id) {
      const whose = wanted.has(id)
        ? `${other} and ${id} are both bound to this key; it runs ${other}`
        : `this key runs ${other} now, no longer ${id}`;
      findings.push(`keyBindings: ${formatChord(chord)}: ${whose}`);
    }
  }
}

function formatUnknownAction(id: string, actions: readonly KeyAction[]): string {
  const ids = actions.map((action) => action.id);
  const meant = findNearest(id, ids);
  const remedy = meant === undefined ? `use one of ${ids.join(", ")}` : `did you mean ${quoteText(meant)}?`;
  return `keyBindings: unknown action ${quoteText(id)}; ${remedy}`;
}
