import { describe, expect, it } from "vitest";
import { parseChords } from "../../../fixtures/console/parse-reads.ts";

/** Keys in the order in which the tables below have their bytes. */
const MOVES = "up down right left home end".split(" ");
const EDITING = "insert delete pageup pagedown".split(" ");
const FUNCTIONS = Array.from({ length: 12 }, (_, at) => `f${at + 1}`);

/** Sequences without the initial Escape: `O` is SS3, `[` is CSI. */
const VT_EDITING = "[2~ [3~ [5~ [6~".split(" ");
const VT_FUNCTIONS = "[15~ [17~ [18~ [19~ [20~ [21~ [23~ [24~";
const SS3_FUNCTIONS = `OP OQ OR OS ${VT_FUNCTIONS}`;
const VT_ARROWS = "[A [B [C [D";
const APPLICATION_ARROWS = "OA OB OC OD";
const HIGHER = "[25~ [26~ [28~ [29~ [31~ [32~ [33~ [34~".split(" ");

/** As their terminfo entries have it (xterm-256color, tmux-256color, ...), and the kitty protocol's page. */
const TERMINALS: Readonly<Record<string, readonly [moves: string, functions: string]>> = {
  xterm: [`${VT_ARROWS} [H [F`, SS3_FUNCTIONS],
  "xterm, application mode": [`${APPLICATION_ARROWS} OH OF`, SS3_FUNCTIONS],
  "tmux and screen": [`${APPLICATION_ARROWS} [1~ [4~`, SS3_FUNCTIONS],
  rxvt: [`${VT_ARROWS} [7~ [8~`, `[11~ [12~ [13~ [14~ ${VT_FUNCTIONS}`],
  "the Linux console": [`${VT_ARROWS} [1~ [4~`, VT_FUNCTIONS.replace("[15~", "[[A [[B [[C [[D [[E")],
  kitty: [`${VT_ARROWS} [H [F`, `[P [Q [13~ [S ${VT_FUNCTIONS}`],
};

describe.each(Object.entries(TERMINALS))("keys of %s", (_terminal, [moves, functions]) => {
  const bytes = [...moves.split(" "), ...VT_EDITING, ...functions.split(" ")].map((rest) => `\x1b${rest}`);
  const wanted = [...MOVES, ...EDITING, ...FUNCTIONS];

  it("are known, one by one", () => {
    expect(bytes.map((one) => parseChords(one))).toEqual(wanted.map((one) => [one]));
  });

  it("are known in one read, and byte by byte", () => {
    const all = Buffer.from(bytes.join(""));
    expect(parseChords(all)).toEqual(wanted);
    expect(parseChords(...Array.from(all, (byte) => Uint8Array.of(byte)))).toEqual(wanted);
  });

  it("are swallowed as a whole when their last byte is lost", () => {
    // All but SS3, whose beginning alone is Alt+O.
    const cut = bytes.filter((one) => one[1] === "[" && one.length > 3).map((one) => one.slice(0, -1));
    expect(cut.map((one) => parseChords(one))).toEqual(cut.map(() => []));
  });
});

/** xterm's number of a modifier is one more than its bits. */
const MODIFIERS = ["shift+", "alt+", "alt+shift+", "ctrl+", "ctrl+shift+", "ctrl+alt+", "ctrl+alt+shift+"];
const LETTERS = [..."ABCDHFPQRS"];
const LETTER_KEYS = [...MOVES, "f1", "f2", "f3", "f4"];
const NUMBERS = [...VT_EDITING, ...VT_FUNCTIONS.split(" "), ...HIGHER].map((rest) =>
  Number.parseInt(rest.slice(1), 10),
);
const NUMBER_KEYS = [...EDITING, ...Array.from({ length: 16 }, (_, at) => `f${at + 5}`)];

describe.each(MODIFIERS.map((modifier, at) => [modifier, at + 2] as const))("with %s", (modifier, number) => {
  it("keys of xterm, tmux and kitty", () => {
    const bytes = [
      ...LETTERS.map((letter) => `\x1b[1;${number}${letter}`),
      ...NUMBERS.map((key) => `\x1b[${key};${number}~`),
    ];
    const wanted = [...LETTER_KEYS, ...NUMBER_KEYS].map((key) => modifier + key);
    expect(parseChords(bytes.join(""))).toEqual(wanted);
    // Kitty also tells what happens to a key: pressed, repeated, let go.
    const told = (event: number) => bytes.map((one) => one.replace(/(;\d)/, `$1:${event}`)).join("");
    expect([parseChords(told(1)), parseChords(told(2)), parseChords(told(3))]).toEqual([wanted, wanted, []]);
  });

  it("function keys as some send them behind SS3", () => {
    const wanted = ["f1", "f2", "f3", "f4"].map((key) => modifier + key);
    for (const first of ["", "1;"])
      expect(parseChords([..."PQRS"].map((letter) => `\x1bO${first}${number}${letter}`).join(""))).toEqual(
        wanted,
      );
  });

  it("letters and others of modifyOtherKeys and kitty", () => {
    const keys = { 9: "tab", 13: "enter", 27: "escape", 127: "backspace" };
    for (const [code, name] of Object.entries(keys)) {
      expect(parseChords(`\x1b[27;${number};${code}~`, `\x1b[${code};${number}u`)).toEqual([
        modifier + name,
        modifier + name,
      ]);
    }
    const letter = modifier === "shift+" ? "P" : modifier === "alt+shift+" ? "alt+P" : `${modifier}p`;
    expect(parseChords(`\x1b[27;${number};112~`, `\x1b[112;${number}u`)).toEqual([letter, letter]);
  });
});

it.each([
  ["F13 to F20", HIGHER.map((rest) => `\x1b${rest}`).join(""), "f13 f14 f15 f16 f17 f18 f19 f20"],
  [
    "kitty's F13 to F20",
    Array.from({ length: 8 }, (_, at) => `\x1b[${57_376 + at}u`).join(""),
    "f13 f14 f15 f16 f17 f18 f19 f20",
  ],
  ["rxvt with Ctrl", "\x1b[11^\x1b[8^\x1bOa\x1bOd", "ctrl+f1 ctrl+end ctrl+up ctrl+left"],
  ["rxvt with Shift", "\x1b[a\x1b[d\x1b[3$", "shift+up shift+left shift+delete"],
  ["rxvt with Ctrl and Shift", "\x1b[3@\x1b[23@", "ctrl+shift+delete ctrl+shift+f11"],
  [
    "rxvt with Alt",
    "\x1b\x1b[A\x1b\x1bOa\x1b\x1b[3~\x1b\x1b[7^",
    "alt+up ctrl+alt+up alt+delete ctrl+alt+home",
  ],
  ["Shift+Tab of xterm, and of the Linux console", "\x1b[Z\x1b\t", "shift+tab shift+tab"],
  ["the keypad", "\x1bOp\x1bOy\x1bOk\x1bOm\x1bOj\x1bOo\x1bOn\x1bOM", "0 9 + - * / . enter"],
  ["kitty's keypad", "\x1b[57399u\x1b[57413u\x1b[57414u\x1b[57417u", "0 + enter left"],
  ["Backspace, here DEL, there BS", "\x7f\x08\x1b\x7f", "backspace ctrl+h alt+backspace"],
  ["kitty: what Shift makes of a key", "\x1b[49:33;2u\x1b[106:74;2u\x1b[223;2u", "! J ß"],
  ["kitty: the text that it types", "\x1b[97;;225u\x1b[97;2;193u", "á Á"],
  ["kitty: where a letter stands on a Latin keyboard", "\x1b[1094::119;5u\x1b[1094u", "ctrl+w ц"],
  ["kitty: Caps Lock and Num Lock are no modifiers", "\x1b[106;65u\x1b[106;133u", "j ctrl+j"],
  ["eight-bit CSI and SS3", Buffer.from("\x9bA\x8fP\x9b5~", "latin1").toString("latin1"), "up f1 pageup"],
])("peculiarities: %s", (_what, bytes, wanted) => {
  const hasEightBit = /[\x80-\x9f]/.test(bytes);
  expect(parseChords(Buffer.from(bytes, hasEightBit ? "latin1" : "utf8")).join(" ")).toBe(wanted);
});
