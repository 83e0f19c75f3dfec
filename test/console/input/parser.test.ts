import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InputEvent } from "../../../src/console/input/event.ts";
import { InputParser } from "../../../src/console/input/parser.ts";

function parsed(...reads: (string | Uint8Array)[]): InputEvent[] {
  const parser = new InputParser();
  const events = reads.flatMap((read) => parser.feed(typeof read === "string" ? Buffer.from(read) : read));
  return [...events, ...parser.flush()];
}

function chords(...reads: string[]): string[] {
  return parsed(...reads).map((event) => (event.kind === "key" ? event.chord : event.kind));
}

const MODIFIERS = ["shift+", "alt+", "alt+shift+", "ctrl+", "ctrl+shift+", "ctrl+alt+", "ctrl+alt+shift+"];
const ARROWS = { A: "up", B: "down", C: "right", D: "left", H: "home", F: "end", P: "f1", Q: "f2", S: "f4" };
const TILDES = {
  2: "insert",
  3: "delete",
  5: "pageup",
  6: "pagedown",
  15: "f5",
  17: "f6",
  24: "f12",
  34: "f20",
};

describe("keys as terminals send them", () => {
  it.each<[what: string, bytes: string, wanted: string[]]>([
    ["letters, signs and others", "jG:é日🙂", ["j", "G", ":", "é", "日", "🙂"]],
    ["Space, Enter, Tab, Backspace", " \r\t\x7f", ["space", "enter", "tab", "backspace"]],
    ["Ctrl and letters", "\x01\x10\x1a\x00\x08", ["ctrl+a", "ctrl+p", "ctrl+z", "ctrl+space", "ctrl+h"]],
    ["Alt and letters", "\x1bx\x1bé\x1b\x7f\x1b\r", ["alt+x", "alt+é", "alt+backspace", "alt+enter"]],
    ["several in one read", "jjj\x1b[Ak", ["j", "j", "j", "up", "k"]],
    ["Escape alone, twice, and before a letter", "\x1b", ["escape"]],
    ["Escape twice", "\x1b\x1b", ["escape", "escape"]],
    ["Shift+Tab", "\x1b[Z", ["shift+tab"]],
    ["application mode", "\x1bOA\x1bOD\x1bOP\x1bOM\x1bOp", ["up", "left", "f1", "enter", "0"]],
    ["the Linux console", "\x1b[[A\x1b[[E", ["f1", "f5"]],
    [
      "rxvt",
      "\x1b[7~\x1b[8^\x1b[3$\x1b[a\x1bOa\x1b\x1b[A",
      ["home", "ctrl+end", "shift+delete", "shift+up", "ctrl+up", "alt+up"],
    ],
    ["screen and tmux", "\x1b[1~\x1b[4~\x1b[11~\x1b[14~", ["home", "end", "f1", "f4"]],
    [
      "modifyOtherKeys",
      "\x1b[27;5;112~\x1b[27;6;80~\x1b[27;2;13~",
      ["ctrl+p", "ctrl+shift+p", "shift+enter"],
    ],
    [
      "kitty",
      "\x1b[112;5u\x1b[106u\x1b[106:74;2u\x1b[27u\x1b[32u\x1b[57417u",
      ["ctrl+p", "j", "J", "escape", "space", "left"],
    ],
    [
      "kitty's releases, repeats, locks and modifiers alone",
      "\x1b[106;1:3u\x1b[106;1:2u\x1b[106;65u\x1b[57441u\x1b[1;1:3A",
      ["j", "j"],
    ],
    ["Super and Hyper", "\x1b[1;9A\x1b[106;9u\x1b[113;17u", []],
  ])("%s", (_what, bytes, wanted) => {
    expect(chords(bytes)).toEqual(wanted);
  });

  it.each(Object.entries(ARROWS))("CSI 1;m%s with every modifier", (final, name) => {
    const bytes = MODIFIERS.map((_, at) => `\x1b[1;${at + 2}${final}`).join("");
    expect(chords(bytes)).toEqual(MODIFIERS.map((modifier) => modifier + name));
  });

  it.each(Object.entries(TILDES))("CSI %s;m~ with every modifier", (number, name) => {
    const bytes = MODIFIERS.map((_, at) => `\x1b[${number};${at + 2}~`).join("");
    expect(chords(`\x1b[${number}~${bytes}`)).toEqual([
      name,
      ...MODIFIERS.map((modifier) => modifier + name),
    ]);
  });

  it("tells what a key types, and that others type nothing", () => {
    expect(parsed("G \x10\x1b[A")).toEqual([
      { kind: "key", chord: "G", text: "G" },
      { kind: "key", chord: "space", text: " " },
      { kind: "key", chord: "ctrl+p" },
      { kind: "key", chord: "up" },
    ]);
  });
});

describe("what is no key", () => {
  it.each<[what: string, bytes: string]>([
    ["answers about the device", "\x1b[?62;22c\x1b[>41;0;0c\x1bP>|xterm(390)\x1b\\"],
    ["the place of the cursor", "\x1b[12;40R\x1b[1;40R"],
    ["modes", "\x1b[?2026;1$y\x1b[?1;2n"],
    ["colours", "\x1b]11;rgb:1e1e/1e1e/1e1e\x07\x1b]10;rgb:ff/ff/ff\x1b\\"],
    ["capabilities", "\x1bP1+r4D73=1B5D\x1b\\\x1b_Gi=1;OK\x1b\\"],
    ["clicks of the old kind", "\x1b[M !!"],
    ["the window's size", "\x1b[8;50;160t"],
    ["bytes that are no UTF-8", "\x80"],
  ])("%s comes to nothing", (_what, bytes) => {
    expect(parsed(Buffer.from(bytes, "latin1"))).toEqual([]);
  });

  it("is the mouse, and the focus", () => {
    expect(parsed("\x1b[<0;3;2M\x1b[<0;3;2m\x1b[<65;1;1M\x1b[<66;1;1M\x1b[I\x1b[O")).toEqual([
      { kind: "mouse", action: "press", button: "left", column: 2, row: 1 },
      { kind: "mouse", action: "release", button: "left", column: 2, row: 1 },
      { kind: "mouse", action: "wheel-down", button: "none", column: 0, row: 0 },
      { kind: "focus", has: true },
      { kind: "focus", has: false },
    ]);
  });
});

describe("a paste", () => {
  it("is one event, whatever is in it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        fc.pre(!text.includes("\x1b[201~"));
        const well = text.toWellFormed();
        expect(parsed(`\x1b[200~${well}\x1b[201~j`)).toEqual([
          { kind: "paste", text: well },
          { kind: "key", chord: "j", text: "j" },
        ]);
      }),
    );
  });

  it("is bounded, and what is too long of it is no key", () => {
    const [event, ...others] = parsed(`\x1b[200~${"q".repeat(3 << 20)}`, "\x1b[201~");
    expect(event).toMatchObject({ kind: "paste" });
    expect(event?.kind === "paste" && event.text.length).toBe(1 << 20);
    expect(others).toEqual([]);
  });

  it("does not end because it pauses", () => {
    const parser = new InputParser();
    expect(parser.feed(Buffer.from("\x1b[200~rm -"))).toEqual([]);
    expect([parser.open, parser.flush()]).toEqual([undefined, []]);
    expect(parser.feed(Buffer.from("rf\x1b[201~"))).toEqual([{ kind: "paste", text: "rm -rf" }]);
  });
});

const sequence = fc.oneof(
  fc.constantFrom(
    "\x1b[A",
    "\x1b[1;5C",
    "\x1bOP",
    "\x1b[15~",
    "\x1b[112;5u",
    "\x1b[<0;10;20M",
    "j",
    "é",
    "日",
    "🙂",
  ),
  fc.constantFrom(
    "\x1b]11;rgb:1/2/3\x07",
    "\x1bP1$r0m\x1b\\",
    "\x1b[200~a\x1bb\x1b[201~",
    "\x1b[?1;2c",
    "\x1bx",
    "\r",
  ),
);

describe("fuzzed", () => {
  it("random bytes never throw, nor pile up", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 }), (reads) => {
        const parser = new InputParser();
        for (const read of reads) parser.feed(read);
        parser.flush();
        expect(parser.open).toBeUndefined();
      }),
    );
  });

  it("reads that are split anywhere, and merged, tell the same", () => {
    fc.assert(
      fc.property(
        fc.array(sequence, { maxLength: 12 }),
        fc.array(fc.nat(60), { maxLength: 12 }),
        (parts, cuts) => {
          const whole = Buffer.from(parts.join(""));
          const at = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
          const reads = at.slice(1).map((end, index) => whole.subarray(at[index] ?? 0, end));
          expect(parsed(...reads)).toEqual(parsed(whole));
        },
      ),
    );
  });

  it("unknown sequences come to no key", () => {
    const unknown = fc.oneof(
      fc.stringMatching(/^\x1b\[[<=>?][0-9;:]{0,20}[ -/]?[@-LN-Zln-z]$/),
      fc.stringMatching(/^\x1b\[[0-9]{3};[0-9]{2,3}[G-OT-Yd-tv-y]$/),
      fc.stringMatching(/^\x1b\][0-9]{1,3};[a-zA-Z0-9;:/]{0,40}\x07$/),
      fc.stringMatching(/^\x1b[P_^X][a-zA-Z0-9;:/+=]{0,40}\x1b\\$/),
    );
    fc.assert(
      fc.property(fc.array(unknown, { maxLength: 5 }), (all) => {
        expect(parsed(all.join(""))).toEqual([]);
      }),
    );
  });

  it("an answer that comes in pieces, slowly, types nothing", () => {
    const parser = new InputParser();
    const bytes = Buffer.from("\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\");
    const events = [...bytes].flatMap((byte) => parser.feed(Uint8Array.of(byte)));
    expect([events, parser.flush()]).toEqual([[], []]);
  });
});
