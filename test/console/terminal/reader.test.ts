import { describe, expect, it } from "vitest";
import { createKeyReader } from "../../../src/console/terminal/input-parser.ts";

/** Creates a reader with a manual clock. */
function reader(onChord: (chord: string) => void = () => {}) {
  const heard: string[] = [];
  const waits: { milliseconds: number; then: () => void }[] = [];
  const keys = createKeyReader(
    (event) => {
      const what = event.kind === "key" ? event.chord : event.kind;
      heard.push(what);
      onChord(what);
    },
    (report) => heard.push(report.of),
    (milliseconds, then) => {
      const one = { milliseconds, then };
      waits.push(one);
      return () => void waits.splice(waits.indexOf(one), 1);
    },
  );
  const feed = (text: string) => keys.feed(Buffer.from(text, "latin1"));
  const pass = () => {
    const due = waits.splice(0);
    for (const { then } of due) then();
    return due.map(({ milliseconds }) => milliseconds);
  };
  return { heard, feed, pass, end: keys.end, expect: keys.expectReport, code: keys.expectCodedKeys };
}

describe("time", () => {
  it("makes Escape of an ESC that nothing follows", () => {
    const { heard, feed, pass } = reader();
    feed("\x1b");
    expect(heard).toEqual([]);
    expect(pass()).toEqual([40]);
    expect(heard).toEqual(["escape"]);
  });

  it("is short for Escapes that repeat, too", () => {
    const { heard, feed, pass } = reader();
    feed("\x1b");
    feed("\x1b");
    expect(pass()).toEqual([40]);
    expect(heard).toEqual(["escape", "escape"]);
  });

  it("begins anew with every read, and what is whole waits for nothing", () => {
    const { heard, feed, pass } = reader();
    for (const part of ["\x1b", "[1", ";5", "A"]) feed(part);
    expect(pass()).toEqual([]);
    expect(heard).toEqual(["ctrl+up"]);
  });

  it("is long for what has begun as a sequence: its end is no key, even if it comes late", () => {
    const { heard, feed, pass } = reader();
    feed("\x1b]11;rgb:");
    feed("ff/DX");
    expect(heard).toEqual([]);
    expect(pass()).toEqual([1_000]);
    feed("j");
    expect(heard).toEqual(["j"]);
  });
});

describe("an answer of the terminal", () => {
  const ANSWER = "\x1b]11;rgb:1e1e/1e1e/1e1e\x07\x1b[?62;22c";

  it("is never a key, wherever its reads are split, however late the next one is", () => {
    for (let at = 1; at < ANSWER.length; at += 1) {
      const { heard, feed, pass, expect: expectReport } = reader();
      expectReport(true);
      feed(ANSWER.slice(0, at));
      feed(ANSWER.slice(at));
      pass();
      feed("j");
      expect(heard, `split at ${at}`).toEqual(["background", "attributes", "j"]);
    }
  });

  it("gets longer than a key to begin, and much longer to end", () => {
    const { feed, pass, expect: expectReport } = reader();
    expectReport(true);
    feed("\x1b");
    expect(pass()).toEqual([250]);
    feed("\x1b]11;rgb:1e");
    expect(pass()).toEqual([10_000]);
  });

  it("is taken after the end of all keys", () => {
    const { heard, feed, end } = reader();
    end();
    feed(`q${ANSWER}`);
    expect(heard).toEqual(["background", "attributes"]);
  });
});

describe("an unrequested report of a changed theme", () => {
  const REPORT = "\x1b[?997;2n";

  it("types nothing, wherever it is split, however late the rest is", () => {
    for (let at = 1; at < REPORT.length; at += 1) {
      const { heard, feed, pass } = reader();
      feed(REPORT.slice(0, at));
      if (at === 1) pass(); // the first byte alone is the Escape key
      feed(REPORT.slice(at));
      feed("j");
      expect(heard, `split at ${at}`).toEqual([...(at === 1 ? ["escape"] : []), "scheme", "j"]);
    }
  });

  it("may take long once it has certainly begun", () => {
    const { feed, pass } = reader();
    feed("\x1b[?99");
    expect(pass()).toEqual([10_000]);
  });
});

describe("keys that are coded as sequences", () => {
  it("have an Escape that waits for nothing; one alone begins something else", () => {
    const { heard, feed, pass, code } = reader();
    code();
    feed("\x1b[27u");
    expect([heard, pass()]).toEqual([["escape"], []]);
    feed("\x1b");
    expect(pass()).toEqual([250]);
  });

  it("are the usual ones", () => {
    const { heard, feed, code } = reader();
    code();
    feed("\x1b[99;5u\x1b[122;5u\x1b[13;2u\x1b[127;2u\x1b[112;3u\x1b[57399u");
    expect(heard).toEqual(["ctrl+c", "ctrl+z", "enter", "shift+backspace", "alt+p", "0"]);
  });
});

describe("a paste whose end was lost", () => {
  it("is left with Ctrl+C, alone and after a pause", () => {
    const { heard, feed, pass } = reader();
    feed("\x1b[200~half of it");
    expect(pass()).toEqual([1_000]);
    feed("\x03");
    feed("j");
    expect(heard).toEqual(["ctrl+c", "j"]);
  });

  it("is left with the Ctrl+C of a keyboard that codes its keys", () => {
    const { heard, feed, pass } = reader();
    feed("\x1b[200~half of it");
    pass();
    feed("\x1b[99;5u");
    expect(heard).toEqual(["ctrl+c"]);
  });

  it("is not left with one that stands in it", () => {
    const { heard, feed, pass } = reader();
    feed("\x1b[200~half ");
    feed("\x03");
    pass();
    feed("of\x03it");
    feed("\x1b[201~");
    expect(heard).toEqual(["paste"]);
  });
});

it("tells nothing after its end, not even of the same read", () => {
  const { heard, feed, pass, end } = reader((chord) => chord === "q" && end());
  feed("jqX\x1b");
  pass();
  feed("X");
  expect(heard).toEqual(["j", "q"]);
});
