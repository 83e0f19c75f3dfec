import { describe, expect, test } from "vitest";
import { createIo } from "../../../../fixtures/cli/sample-commands.ts";
import {
  AcceptedWarnings,
  formatFinding,
  reportCheck,
  reportErrorsToNagios,
} from "../../../../src/cli/commands/check/findings.ts";
import type { Call } from "../../../../src/cli/frame/command.ts";
import { UsageError } from "../../../../src/core/base/errors.ts";
import type { Finding, FindingLevel } from "../../../../src/core/base/finding.ts";
import { StoreError } from "../../../../src/core/etcd/store.ts";

const finding = (level: FindingLevel, change: Partial<Finding> = {}): Finding => ({
  kind: "thing",
  check: "thing a",
  level,
  detail: "it stands so",
  ...change,
});

const concluded = (levels: FindingLevel[], flags: Record<string, true>, summary = "3 of 3") => {
  const { io, written } = createIo();
  const findings = levels.map((level, index) => finding(level, { check: `thing ${index}` }));
  const figures = [
    { name: "size", value: 7, unit: "B" as const, warning: 5, critical: 9 },
    { name: "keys", value: 3 },
  ];
  const code = reportCheck({ findings, figures, summary, revision: 12n }, { flags, io });
  return { code, text: written.out };
};

describe("what a check came to", () => {
  test.each<[levels: FindingLevel[], plain: number, nagios: number, word: string]>([
    [[], 0, 0, "OK"],
    [["ok", "hint"], 0, 0, "OK"],
    [["ok", "warning"], 1, 1, "WARNING"],
    [["warning", "unknown"], 69, 3, "UNKNOWN"],
    [["unknown", "failure", "warning"], 2, 2, "CRITICAL"],
  ])("%j: exit %d, for Nagios %d", (levels, plain, nagios, word) => {
    expect(concluded(levels, {}).code).toBe(plain);
    expect(concluded(levels, { json: true }).code).toBe(plain);
    expect(concluded(levels, { nagios: true })).toMatchObject({
      code: nagios,
      text: expect.stringMatching(new RegExp(`^SIGNALBOX ${word} - [^|\n]+ \\| size=7B;5;9 keys=3\n$`)),
    });
  });

  test("plain: how many of what", () => {
    expect(concluded(["ok"], {}).text).toBe("fine: 3 of 3\n");
    expect(concluded(["failure", "failure", "warning", "unknown"], {}).text).toBe(
      "2 failures, 1 check that could not be done, 1 warning\n",
    );
  });

  test("JSON: everything, with the revision", () => {
    expect(JSON.parse(concluded(["warning"], { json: true }).text)).toEqual({
      version: 1,
      revision: "12",
      state: "warning",
      summary: "3 of 3",
      figures: { size: 7, keys: 3 },
      findings: [{ kind: "thing", id: "thing", check: "thing 0", level: "warning", detail: "it stands so" }],
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
    expect(formatFinding(bad, createIo().io)).toBe("FAILURE key a: it stands so\n        do this\n");
    expect(formatFinding(finding("ok", { remedy: "nothing" }), createIo().io)).toBe(
      "ok      thing a: it stands so\n",
    );
  });
});

describe("for monitoring", () => {
  const call = (flags: object) => ({ flags }) as unknown as Call;
  test.each([[new StoreError("unavailable", "away")], [new UsageError("wrong")]])(
    "%s is a line and 3",
    async (error) => {
      const { io, written } = createIo();
      const execute = reportErrorsToNagios(() => Promise.reject(error));
      expect(await execute(call({ nagios: true }), io)).toBe(3);
      expect(written.out).toBe(`SIGNALBOX UNKNOWN - ${error.message}\n`);
      await expect(execute(call({}), io)).rejects.toBe(error);
    },
  );

  test("a defect stays one", async () => {
    const execute = reportErrorsToNagios(() => Promise.reject(new TypeError("x")));
    await expect(execute(call({ nagios: true }), createIo().io)).rejects.toThrow(TypeError);
  });
});

describe("warnings that are known", () => {
  const warning = (check: string, change: Partial<Finding> = {}) => finding("warning", { check, ...change });
  const marks = (words: string[], findings: Finding[]) =>
    new AcceptedWarnings(words).mark(findings).map(({ isAccepted = false }) => isAccepted);

  test("by id, or of one thing only; without an id the kind is it", () => {
    const findings = [
      warning("member a", { kind: "member", id: "member-version" }),
      warning("member b", { kind: "member", id: "member-away" }),
      warning("clock of a", { kind: "clock" }),
      warning("clock of b", { kind: "clock" }),
    ];
    expect(marks(["member-version"], findings)).toEqual([true, false, false, false]);
    expect(marks(["member"], findings)).toEqual([false, false, false, false]);
    expect(marks(["clock"], findings)).toEqual([false, false, true, true]);
    expect(marks(["clock=clock of b", "member-away"], findings)).toEqual([false, true, false, true]);
  });

  test("what is worse than a warning always counts", () => {
    const levels: FindingLevel[] = ["ok", "hint", "unknown", "failure"];
    for (const level of levels) expect(marks(["thing"], [finding(level)])).toEqual([false]);
  });

  test("a word about nothing is told", () => {
    const accepted = new AcceptedWarnings(["thing", "thnig"]);
    accepted.mark([warning("a")]);
    expect(accepted.listUnused()).toMatchObject([{ check: "--accept thnig", level: "hint" }]);
  });

  test("they do not count, and are named in every form", () => {
    const findings = new AcceptedWarnings(["known"]).mark([warning("a", { id: "known" }), finding("ok")]);
    const report = { figures: [], summary: "3 of 3" };
    const told = (flags: Record<string, true>, more: Finding[] = []) => {
      const { io, written } = createIo();
      const code = reportCheck({ ...report, findings: [...findings, ...more] }, { flags, io });
      return [code, written.out];
    };
    expect(told({})).toEqual([0, "fine: 3 of 3 (accepted: known)\n"]);
    expect(told({ nagios: true })).toEqual([0, "SIGNALBOX OK - 3 of 3 (accepted: known)\n"]);
    expect(told({ nagios: true }, [warning("b")])).toEqual([
      1,
      "SIGNALBOX WARNING - 1 warning: b: it stands so (accepted: known)\n",
    ]);
    const [code, document] = told({ json: true });
    expect(code).toBe(0);
    expect(JSON.parse(`${document}`)).toMatchObject({
      state: "ok",
      findings: [
        { id: "known", level: "warning", accepted: true },
        { id: "thing", level: "ok" },
      ],
    });
    expect(findings.map((one) => formatFinding(one, createIo().io))).toEqual([
      "known   a: it stands so\n",
      "ok      thing a: it stands so\n",
    ]);
  });
});
