import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseChords, parseReads } from "../../../fixtures/console/parse-reads.ts";
import { InputParser } from "../../../src/console/terminal/input-parser.ts";

describe("keys as terminals send them", () => {
  it.each([
    ["letters, signs and others", "jG:é日🙂", "j G : é 日 🙂"],
    ["Space, Enter, Tab, Backspace", " \r\t\x7f", "space enter tab backspace"],
    ["Ctrl and letters", "\x01\x10\x1a\x00\x08", "ctrl+a ctrl+p ctrl+z ctrl+space ctrl+h"],
    ["Alt and letters", "\x1bx\x1bé\x1b\x7f\x1b\r", "alt+x alt+é alt+backspace alt+enter"],
    ["several in one read", "jjj\x1b[Ak", "j j j up k"],
    ["Escape alone, twice, and before a letter", "\x1b", "escape"],
    ["Escape twice", "\x1b\x1b", "escape escape"],
    [
      "kitty's releases, repeats and modifiers alone",
      "\x1b[106;1:3u\x1b[106;1:2u\x1b[57441u\x1b[1;1:3A",
      "j",
    ],
    ["Super and Hyper", "\x1b[1;9A\x1b[106;9u\x1b[113;17u", ""],
  ])("%s", (_what, bytes, wanted) => {
    expect(parseChords(bytes).join(" ")).toBe(wanted);
  });

  it("tells what a key types, and that others type nothing", () => {
    expect(parseReads("G \x10\x1b[A")).toEqual([
      { kind: "key", chord: "G", text: "G" },
      { kind: "key", chord: "space", text: " " },
      { kind: "key", chord: "ctrl+p" },
      { kind: "key", chord: "up" },
    ]);
  });
});

describe("what is no key", () => {
  it.each([
    ["answers about the device", "\x1b[?62;22c\x1b[>41;0;0c\x1bP>|xterm(390)\x1b\\"],
    ["the state of the terminal that nobody asks for", "\x1b[5n\x1b[?0n"],
    ["the place of the cursor", "\x1b[12;40R\x1b[1;40R"],
    ["modes", "\x1b[?2026;1$y\x1b[?1;2n"],
    ["colours", "\x1b]11;rgb:1e1e/1e1e/1e1e\x07\x1b]10;rgb:ff/ff/ff\x1b\\"],
    ["capabilities", "\x1bP1+r4D73=1B5D\x1b\\\x1b_Gi=1;OK\x1b\\"],
    ["clicks of the old kind", "\x1b[M !!"],
    ["the window's size", "\x1b[8;50;160t"],
    ["bytes that are no UTF-8", "\x80"],
  ])("%s comes to nothing", (_what, bytes) => {
    expect(parseReads(Buffer.from(bytes, "latin1"))).toEqual([]);
  });

  it("is the answer that all output has arrived, for any split", () => {
    for (const reads of [["\x1b[0n"], ["\x1b", "[", "0", "n"], ["\x1b[", "0n"]]) {
      const parser = new InputParser();
      const all = reads.flatMap((read) => parser.feed(Buffer.from(read)));
      expect([...all, ...parser.flush()]).toEqual([{ kind: "report", of: "status" }]);
    }
  });

  it("is not the letter that was typed with Alt before an answer", () => {
    expect(parseChords("\x1b]\x1b[0n", "j")).toEqual(["alt+]", "j"]);
    expect(parseChords("\x1b]", "\x1b", "[0n")).toEqual(["alt+]"]);
    expect(parseChords("\x1b]\x1b\\j")).toEqual(["j"]);
  });

  it("is the mouse, and the focus", () => {
    expect(parseReads("\x1b[<0;3;2M\x1b[<0;3;2m\x1b[<65;1;1M\x1b[<66;1;1M\x1b[I\x1b[O")).toEqual([
      { kind: "mouse", action: "press", button: "left", column: 2, row: 1 },
      { kind: "mouse", action: "release", button: "left", column: 2, row: 1 },
      { kind: "mouse", action: "wheel-down", button: "none", column: 0, row: 0 },
      { kind: "focus", has: true },
      { kind: "focus", has: false },
    ]);
  });
});

describe("what is broken", () => {
  it.each([
    ["a CSI whose bytes stand in the wrong order", ["\x1b[1?5D\x1b[1 5X\x1b[<?~"], ""],
    ["a CSI that another breaks off", ["\x1b[12\x1b[A"], "up"],
    ["a CSI that is too long, in one read", [`\x1b[${"1".repeat(300)}Dj`], "j"],
    ["a CSI that is too long, in several", [`\x1b[${"1".repeat(100)}`, "1".repeat(200), "Dj"], "j"],
    [
      "an SS3 in pieces, one too long, one broken off",
      ["\x1bO5", "A", `\x1bO${"1".repeat(99)}Dj`, "\x1bO\x1b[B"],
      "ctrl+up j down",
    ],
    ["the Linux console's, broken off", ["\x1b[[", "\x1b[A"], "up"],
    ["a click of the old kind, broken off", ["\x1b[M ", "\x1b[A"], "up"],
    [
      "keys that are none: numbers of nothing, of NUL, of Ctrl+C",
      ["\x1b[u\x1b[0u\x1b[3u\x1b[3;5u\x1b[27~\x1b[27;5~\x1b[27;5;3~"],
      "",
    ],
    ["modifiers that do not exist", ["\x1b[1;0A\x1b[1;300A\x1b[1;257B\x1b[5;999~\x1b[113;0u"], ""],
    ["OSC that Escape breaks off", ["\x1b]11;rgb:\x1b[A"], "up"],
    ["a key of kitty's that types too much", [`\x1b[97;;${"97:".repeat(30)}u`], ""],
    ["UTF-8 that breaks off before what could begin a CSI", ["\xe6\x9bA"], "A"],
    ["UTF-8 that breaks off", ["\xe6\x97j\xf0\x9f\x1b[A\xff\xc3"], "j up"],
  ])("%s", (_what, reads, wanted) => {
    expect(parseChords(...reads.map((read) => Buffer.from(read, "latin1"))).join(" ")).toBe(wanted);
  });

  it("an end that never comes is given up, and its Escape is no key", () => {
    const parser = new InputParser();
    const feed = (text: string) => parser.feed(Buffer.from(text)).length;
    expect([feed("\x1b]11;rgb:ff\x1b"), parser.pending, parser.flush(), feed("j")]).toEqual([
      0,
      "report",
      [],
      1,
    ]);
  });
});

describe("a paste", () => {
  it("is one event with any content: a text, cleaned", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        fc.pre(!Buffer.from(bytes).includes("\x1b[201~"));
        const [event, ...others] = parseReads("\x1b[200~", bytes, "\x1b[201~j");
        expect(others).toEqual([{ kind: "key", chord: "j", text: "j" }]);
        expect(event?.kind === "paste" && event.text).toMatch(/^[^\x00-\x09\x0b-\x1f\x7f-\x9f]*$/);
      }),
    );
  });

  it("keeps lines, and nothing that a terminal would obey", () => {
    expect(
      parseReads("\x1b[200~a\tb\rc\r\nd\ne\x1b[31mf\x1b]52;c;eA==\x07g\x03\x9bé\u202e\x1b[201~"),
    ).toEqual([{ kind: "paste", text: "a b\nc\nd\nefgé" }]);
  });

  it("is one, too, right behind the key Escape", () => {
    expect(parseChords("\x1b\x1b[200~XDK\x1b[201~")).toEqual(["escape", "paste"]);
  });

  it("is bounded, and what is too long of it is no key", () => {
    const [event, ...others] = parseReads(`\x1b[200~${"q".repeat(3 << 20)}`, "\x1b[201~");
    expect(event).toMatchObject({ kind: "paste" });
    expect(event?.kind === "paste" && event.text.length).toBe(1 << 20);
    expect(others).toEqual([]);
  });

  it("does not end because it pauses", () => {
    const parser = new InputParser();
    expect(parser.feed(Buffer.from("\x1b[200~rm -"))).toEqual([]);
    expect([parser.pending, parser.flush()]).toEqual(["paste", []]);
    expect(parser.feed(Buffer.from("rf\x1b[201~"))).toEqual([{ kind: "paste", text: "rm -rf" }]);
  });
});

const KNOWN = fc.constantFrom(
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
  "\x1bx",
  "\r",
  "\x1b]11;rgb:1/2/3\x07",
  "\x1bP1$r0m\x1b\\",
  "\x1b[200~a\x1bb\r\x1b[201~",
  "\x1b[?1;2c",
  "\x1bO1;2P",
  "\x1b\x1b[A",
);
/** What sequences are made of, so that random bytes often are some, or almost. */
const CRUMB = fc.constantFrom(
  ..."\x1b\x1b\x1b[[[OOP]_X^M<?;:$ 0125~uAZc\\\x07\x18j\r\x03\x9b\x9d\x8f\xe6\x97\xa5\xff",
  "200~",
  "201~",
  "27;5;",
  "1".repeat(70),
);
const bytesOf = (crumbs: readonly string[]) => Buffer.from(crumbs.join(""), "latin1");

describe("fuzzed", () => {
  it("random bytes never throw, nor pile up", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 }), (reads) => {
        const parser = new InputParser();
        for (const read of reads) parser.feed(read);
        parser.flush();
        expect(parser.pending ?? "paste").toBe("paste");
      }),
    );
  });

  it("reads that are split anywhere, and merged, tell the same", () => {
    const cuts = fc.array(fc.nat(60), { maxLength: 12 });
    const texts = fc.array(KNOWN, { maxLength: 12 }).map((parts) => Buffer.from(parts.join("")));
    fc.assert(
      fc.property(texts, cuts, (whole, cuts) => {
        const at = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
        const reads = at.slice(1).map((end, index) => whole.subarray(at[index] ?? 0, end));
        expect(parseReads(...reads)).toEqual(parseReads(whole));
      }),
    );
  });

  it("Ctrl+C right behind Escape, as a slow line delivers them, is both keys", () => {
    const chords = parseReads("\x1b\x03").map((event) => event.kind === "key" && event.chord);
    expect(chords).toEqual(["escape", "ctrl+c"]);
  });

  it("even of what is no sequence at all: byte by byte it is the same as at once", () => {
    fc.assert(
      fc.property(fc.array(CRUMB, { maxLength: 30 }), (crumbs) => {
        const whole = bytesOf(crumbs);
        expect(parseReads(...Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(parseReads(whole));
      }),
      { numRuns: 1_000 },
    );
  });

  it("every CSI is swallowed as a whole: whatever stands in it, it types nothing", () => {
    const any = fc.stringMatching(/^\x1b\[[ -?]{0,80}[@-LN-Z\\-t\x76-}]$/);
    fc.assert(
      fc.property(any, (csi) => {
        const events = parseReads(csi);
        expect(events.length).toBeLessThanOrEqual(1);
        expect(events.filter((event) => event.kind === "key" && event.text !== undefined)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("unknown answers and sequences have no effect", () => {
    const unknown = fc.oneof(
      fc.stringMatching(/^\x1b\[[<=>?][0-9;:]{0,20}[ -/]?[@-LN-Zln-z]$/),
      fc.stringMatching(/^\x1b\[[0-9]{3};[0-9]{2,3}[G-OT-Yd-tv-y]$/),
      fc.stringMatching(/^\x1b\][0-9]{1,3};[a-zA-Z0-9;:/]{0,40}(\x07|\x1b\\)$/),
      fc.stringMatching(/^\x1b[P_^X][a-zA-Z0-9;:/+=]{0,40}\x1b\\$/),
    );
    fc.assert(
      fc.property(fc.array(unknown, { maxLength: 5 }), (all) => {
        expect(parseReads(all.join(""))).toEqual([]);
      }),
    );
  });
});
