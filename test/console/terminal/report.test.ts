import { describe, expect, it } from "vitest";
import { isLightBackground, parseOscReport } from "../../../src/console/terminal/input-event.ts";
import { InputParser } from "../../../src/console/terminal/input-parser.ts";

/** Parses reads to what the terminal has answered, and the number of other events. */
function listReports(reads: readonly string[]) {
  const parser = new InputParser();
  const all = [...reads.flatMap((read) => parser.feed(Buffer.from(read, "latin1"))), ...parser.flush()];
  const reports = all.filter((one) => one.kind === "report").map(({ of }) => of);
  return { reports, others: all.length - reports.length };
}

describe("the answer about the background", () => {
  it.each([
    ["11;rgb:1e1e/1e1e/1e1e", false],
    ["11;rgb:0/0/0", false],
    ["11;rgb:f/f/f", true],
    ["11;rgb:fd/f6/e3", true],
    ["11;rgb:ffff/ffff/eeee", true],
    ["11;rgba:0000/2b2b/3636/ffff", false],
    ["11;RGB:FFFF/FFFF/FFFF", true],
    ["10;rgb:ffff/ffff/ffff", undefined],
    ["11;rgb:fffff/0/0", undefined],
    ["11;rgb:ff/ff", undefined],
    ["11;rgb:ff/ff/fg", undefined],
    ["11;?", undefined],
    ["", undefined],
  ])("%s means light: %s", (text, isLight) => {
    const report = parseOscReport(text);
    expect(report && isLightBackground(report)).toBe(isLight);
  });

  it.each([
    ["BEL", "\x1b]11;rgb:1e1e/1e1e/1e1e\x07"],
    ["ESC \\", "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\"],
    ["BEL, with an 8-bit beginning", "\x9d11;rgb:1e1e/1e1e/1e1e\x07"],
  ])("ends in %s, in any pieces", (_, answer) => {
    expect(listReports([...answer])).toEqual({ reports: ["background"], others: 0 });
    for (let at = 0; at <= answer.length; at += 1)
      expect(listReports([answer.slice(0, at), answer.slice(at)]), String(at)).toEqual({
        reports: ["background"],
        others: 0,
      });
  });

  it.each([
    ["interrupted by a key", "\x1b]11;rgb:1e1e\x1b[A", 1],
    ["cancelled", "\x1b]11;rgb:1e1e/1e1e/1e1e\x18", 0],
    ["endless", `\x1b]11;rgb:${"1".repeat(5_000)}\x07`, 0],
    ["in another string", "\x1bP11;rgb:1e1e/1e1e/1e1e\x07", 0],
    ["in a paste", "\x1b[200~\x1b]11;rgb:1e1e/1e1e/1e1e\x07\x1b[201~", 1],
  ])("is none if it is %s", (_, bytes, others) => {
    expect(listReports([bytes])).toEqual({ reports: [], others });
  });
});

describe("the answer about the colours", () => {
  it.each([
    "\x1bP1+r524742\x1b\\",
    "\x1bP1+r524742=382f382f38\x1b\\",
    "\x90" + "1+r524742\x07",
    "\x1bP1$r48:2:1:2:3m\x1b\\",
    "\x1bP1$r0;1;48:2::1:2:3m\x1b\\",
    "\x1bP0$r48;2;1;2;3m\x1b\\",
  ])("is %j, in any pieces, and never keys", (answer) => {
    expect(listReports([...answer])).toEqual({ reports: ["colours"], others: 0 });
    for (let at = 0; at <= answer.length; at += 1)
      expect(listReports([answer.slice(0, at), answer.slice(at)])).toEqual({
        reports: ["colours"],
        others: 0,
      });
  });

  it.each([
    ["of a terminal without it", "\x1bP0+r524742\x1b\\"],
    ["with another colour", "\x1bP1$r48;5;16m\x1b\\"],
    ["with more than the colour", "\x1bP1$r48;2;1;2;3m\nrm -rf\x1b\\"],
    ["interrupted", "\x1bP1$r48;2;1;2;3m\x18"],
    ["endless", `\x1bP1$r${"0;".repeat(5_000)}48;2;1;2;3m\x1b\\`],
    ["in an OSC string", "\x1b]1+r524742\x07"],
  ])("is none if it is %s", (_, bytes) => expect(listReports([bytes])).toEqual({ reports: [], others: 0 }));

  it("is none of its parts, if its Escape came so early that it was taken for the key", () => {
    const parser = new InputParser();
    const feed = (text: string) => parser.feed(Buffer.from(text, "latin1"));
    expect([...feed("\x1b"), ...parser.flush()]).toEqual([{ kind: "key", chord: "escape" }]);
    expect(feed("P1$r48;2;1;2;3m\x1b\\j")).toEqual([
      { kind: "report", of: "colours" },
      { kind: "key", chord: "j", text: "j" },
    ]);
  });

  it("may come in pieces, with long pauses", () => {
    const parser = new InputParser();
    parser.feed(Buffer.from("\x1bP1$r48;2"));
    expect(parser.pending).toBe("report");
    parser.feed(Buffer.from("\x1b\\\x1bPq"));
    expect(parser.pending).toBe("sequence");
  });
});

it("knows the answer about the attributes, which every terminal gives", () => {
  for (const bytes of ["\x1b[?62;22c", "\x1b[?6c", "\x9b?1;2c"])
    expect(listReports([bytes])).toEqual({ reports: ["attributes"], others: 0 });
  expect(listReports(["\x1b[>41;0;0c\x1b[5n"])).toEqual({ reports: [], others: 0 });
});

it("knows what a keyboard can, and nothing else that begins so", () => {
  expect(listReports(["\x1b[?0u\x1b[?1u"])).toEqual({ reports: ["keyboard", "keyboard"], others: 0 });
  expect(listReports(["\x1b[?997;3n\x1b[?997n\x1b[?1;2R\x1b[?2031;1$y"])).toEqual({ reports: [], others: 0 });
});

it.each([
  ["\x1b[?997;1n", false],
  ["\x1b[?997;2n", true],
  ["\x9b?997;2n", true],
])("takes %j for a change of the theme, and never for keys, in any pieces", (bytes, isLight) => {
  const report = { kind: "report", of: "scheme", isLight };
  for (let at = 0; at <= bytes.length; at += 1) {
    const parser = new InputParser();
    const reads = [bytes.slice(0, at), `${bytes.slice(at)}j`];
    const all = reads.flatMap((read) => parser.feed(Buffer.from(read, "latin1")));
    expect(all, `split at ${at}`).toEqual([report, { kind: "key", chord: "j", text: "j" }]);
  }
});
