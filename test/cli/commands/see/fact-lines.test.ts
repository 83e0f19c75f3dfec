import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildDetailLines, flowFacts } from "../../../../src/cli/commands/see/detail.ts";
import type { Detail, Fact } from "../../../../src/cli/views/detail.ts";
import { computeDisplayWidth } from "../../../../src/core/base/display-width.ts";

const STYLE = { colours: false, marks: undefined, arrow: "->" };
const flow = (facts: readonly Fact[], width: number | undefined) =>
  flowFacts(facts, { ...STYLE, width }).map((spans) => spans.map(({ text }) => text).join(""));

const facts: Fact[] = [
  { label: "holder", value: "web1:3121 (backup.sh), user root" },
  { label: "run", value: "y2ttx78g5yne91j7" },
  { label: "token", value: "45" },
  { label: "runner", value: "quiet: not renewed", tone: "problem" },
];

describe("facts in lines", () => {
  it("follow each other as far as there is room", () => {
    expect(flow(facts, 100)).toEqual([
      "  holder web1:3121 (backup.sh), user root · run y2ttx78g5yne91j7 · token 45",
      "  runner quiet: not renewed",
    ]);
    expect(flow(facts, undefined)).toHaveLength(1);
    expect(flow([], 100)).toEqual([]);
  });

  it("are wrapped where one alone is wider", () => {
    expect(flow(facts.slice(0, 1), 30)).toEqual(["  holder web1:3121", "  (backup.sh), user root"]);
  });

  it("have quiet labels, and values in their tones", () => {
    const [line = []] = flowFacts(facts.slice(3), { ...STYLE, width: 80 });
    expect(line.map(({ role }) => role)).toEqual([undefined, "quiet", "problem"]);
  });

  it("never exceed the width", () => {
    const fact = fc.record({ label: fc.constantFrom("a", "holder"), value: fc.string({ unit: "grapheme" }) });
    fc.assert(
      fc.property(fc.array(fact, { maxLength: 6 }), fc.integer({ min: 20, max: 120 }), (own, width) => {
        for (const line of flow(own, width)) expect(computeDisplayWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });

  it("have their first table directly below them", () => {
    const detail: Detail = {
      heading: "lock a: held",
      tone: "held",
      facts: facts.slice(0, 2),
      sections: ["queue", "history"].map((title) => ({ kind: "lines", title, lines: ["x"] })),
    };
    const build = (isDense: boolean) =>
      buildDetailLines(detail, { ...STYLE, width: 100 }, isDense).map(({ spans }) => spans[0]?.text ?? "");
    expect(build(true)).toEqual(["lock a: held", "  ", "queue", "  ", "", "history", "  "]);
    expect(build(false)).toHaveLength(9);
  });
});
