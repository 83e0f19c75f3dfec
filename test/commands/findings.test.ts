import { describe, expect, test } from "vitest";
import { UsageError } from "../../src/base/errors.ts";
import type { Finding, Level } from "../../src/base/finding.ts";
import { conclude, findingLines, tellingNagios } from "../../src/commands/check/findings.ts";
import type { Call, Surroundings } from "../../src/commands/spec.ts";
import { StoreError } from "../../src/etcd/store.ts";

const finding = (level: Level, change: Partial<Finding> = {}): Finding => ({
  ...{ kind: "thing", check: "thing a", level, detail: "it stands so", ...change },
});

function world(): Surroundings & { text: string } {
  const here = {
    ...{ text: "", env: {}, err: () => {}, onSignal: () => () => {}, input: async () => "" },
    out: (text: string) => {
      here.text += text;
      return true;
    },
    terminal: { isOutput: () => false } as Surroundings["terminal"],
  };
  return here;
}

const concluded = (levels: Level[], flags: Record<string, true>, summary = "3 of 3") => {
  const here = world();
  const findings = levels.map((level, index) => finding(level, { check: `thing ${index}` }));
  const figures = [
    { name: "size", value: 7, unit: "B" as const, warning: 5, critical: 9 },
    { name: "keys", value: 3 },
  ];
  const code = conclude({ findings, figures, summary, revision: 12n }, flags, here);
  return { code, text: here.text };
};

describe("what a check came to", () => {
  test.each<[levels: Level[], plain: number, nagios: number, word: string]>([
    [[], 0, 0, "OK"],
    [["ok", "hint"], 0, 0, "OK"],
    [["ok", "warning"], 1, 1, "WARNING"],
    [["warning", "unknown"], 69, 3, "UNKNOWN"],
    [["unknown", "failure", "warning"], 2, 2, "CRITICAL"],
  ])("%j: exit %d, for Nagios %d", (levels, plain, nagios, word) => {
    expect(concluded(levels, {}).code).toBe(plain);
    expect(concluded(levels, { json: true }).code).toBe(plain);
    expect(concluded(levels, { nagios: true })).toMatchObject({
      ...{
        code: nagios,
        text: expect.stringMatching(new RegExp(`^SIGNALBOX ${word} - [^|\n]+ \\| size=7B;5;9 keys=3\n$`)),
      },
    });
  });

  test("plain: how many of what", () => {
    expect(concluded(["ok"], {}).text).toBe("fine: 3 of 3\n");
    expect(concluded(["failure", "failure", "warning", "unknown"], {}).text).toBe(
      "2 failures, 1 thing that could not be checked, 1 warning\n",
    );
  });

  test("JSON: everything, with the revision", () => {
    expect(JSON.parse(concluded(["warning"], { json: true }).text)).toEqual({
      ...{ version: 1, revision: "12", state: "warning", summary: "3 of 3", figures: { size: 7, keys: 3 } },
      findings: [{ kind: "thing", check: "thing 0", level: "warning", detail: "it stands so" }],
    });
  });

  test("Nagios: the worst first, of many only three, and never a bar or a control character", () => {
    const { text } = concluded(["warning", "warning", "failure", "warning"], { nagios: true });
    expect(text).toMatch(
      /- 1 failure, 3 warnings: thing 2: it stands so; thing 0: .*; thing 1: .*; and 1 more \|/,
    );
    expect(concluded([], { nagios: true }, "a | b\nc\x1b[2J").text).toMatch(/^SIGNALBOX OK - a \/ b c \| /);
  });

  test("a finding in lines, its remedy below; other people's words are made harmless", () => {
    const bad = finding("failure", { check: "key \x1b]52;c;x\x07a", remedy: "do this" });
    expect(findingLines(bad, world())).toBe("FAILURE key a: it stands so\n        do this\n");
    expect(findingLines(finding("ok", { remedy: "nothing" }), world())).toBe(
      "ok      thing a: it stands so\n",
    );
  });
});

describe("for monitoring", () => {
  const call = (flags: object) => ({ flags }) as unknown as Call;
  test.each([[new StoreError("unavailable", "away")], [new UsageError("wrong")]])(
    "%s is a line and 3",
    async (error) => {
      const here = world();
      const execute = tellingNagios(() => Promise.reject(error));
      expect(await execute(call({ nagios: true }), here)).toBe(3);
      expect(here.text).toBe(`SIGNALBOX UNKNOWN - ${error.message}\n`);
      await expect(execute(call({}), here)).rejects.toBe(error);
    },
  );

  test("a defect stays one", async () => {
    const execute = tellingNagios(() => Promise.reject(new TypeError("x")));
    await expect(execute(call({ nagios: true }), world())).rejects.toThrow(TypeError);
  });
});
