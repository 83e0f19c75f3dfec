/** Colours and attributes that a terminal applies to the next characters, as the parameters that set them. */
export interface SgrState {
  readonly foreground: string;
  readonly background: string;
  /** Attributes that are on, by the parameter that turns them on. */
  readonly attributes: readonly string[];
}

/** No colour, no attribute. */
export const DEFAULT_SGR: SgrState = { foreground: "", background: "", attributes: [] };

/** The parameter that turns an attribute off. Bold and dim have the same. */
const OFF: Readonly<Record<string, string>> = { "1": "22", "2": "22", "3": "23", "4": "24", "7": "27" };
const [UNDERLINED, INVERSE] = ["4", "7"];
const COLOURED = /^(?:3[0-7]|9[0-7])$/;
const GROUNDED = /^(?:4[0-7]|10[0-7])$/;

/** By text: one object for each look, so that cells are compared by identity. */
const states = new Map<string, SgrState>([["||", DEFAULT_SGR]]);
/** More looks than any theme has. */
const MOST_STATES = 4_096;

/**
 * Applies the parameters of an SGR sequence.
 * @returns one object for each look; undefined if a parameter is unknown
 */
export function applySgrParameters(state: SgrState, parameters: string): SgrState | undefined {
  let { foreground, background, attributes } = state;
  const rest = parameters === "" ? ["0"] : parameters.split(";");
  for (let code = rest.shift(); code !== undefined; code = rest.shift()) {
    if (code === "0") [foreground, background, attributes] = ["", "", []];
    else if (code === "39") foreground = "";
    else if (code === "49") background = "";
    else if (COLOURED.test(code)) foreground = code;
    else if (GROUNDED.test(code)) background = code;
    else if (code === "38" || code === "48") {
      const colour = [code, ...rest.splice(0, rest[0] === "2" ? 4 : 2)].join(";");
      if (code === "38") foreground = colour;
      else background = colour;
    } else if (Object.hasOwn(OFF, code)) attributes = [...attributes.filter((one) => one !== code), code];
    else if (Object.values(OFF).includes(code)) attributes = attributes.filter((one) => OFF[one] !== code);
    else return undefined;
  }
  return internState(foreground, background, attributes);
}

function internState(foreground: string, background: string, attributes: readonly string[]): SgrState {
  const name = `${foreground}|${background}|${[...attributes].sort().join(";")}`;
  const known = states.get(name);
  if (known !== undefined) return known;
  if (states.size >= MOST_STATES) return { foreground, background, attributes };
  const made = { foreground, background, attributes };
  states.set(name, made);
  return made;
}

/** Returns the shortest sequence that changes one state into another; empty if they look the same. */
export function formatSgrChange(from: SgrState, to: SgrState): string {
  const changes = listChanges(from, to);
  if (changes.length === 0) return "";
  const anew = listChanges(DEFAULT_SGR, to);
  const [change, reset] = [changes.join(";"), anew.length === 0 ? "" : `0;${anew.join(";")}`];
  return `\x1b[${reset.length < change.length ? reset : change}m`;
}

/** Returns what is visible of a state in a blank: the same object for all states in which a blank looks the same. */
export function toBlankState(state: SgrState): SgrState {
  if (state.foreground === "" && state.attributes.length === 0) return state;
  const isMarked = state.attributes.includes(UNDERLINED) || state.attributes.includes(INVERSE);
  return isMarked ? state : internState("", state.background, []);
}

function listChanges(from: SgrState, to: SgrState): string[] {
  const off = new Set(
    from.attributes.filter((one) => !to.attributes.includes(one)).map((one) => OFF[one] as string),
  );
  const kept = from.attributes.filter((one) => !off.has(OFF[one] as string));
  const on = to.attributes.filter((one) => !kept.includes(one));
  return [
    ...off,
    ...on,
    ...(from.foreground === to.foreground ? [] : [to.foreground || "39"]),
    ...(from.background === to.background ? [] : [to.background || "49"]),
  ];
}
