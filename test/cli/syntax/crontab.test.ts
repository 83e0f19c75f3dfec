import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findScheduleFault, parseCrontab } from "../../../src/cli/syntax/crontab.ts";

const fault = (schedule: string) => findScheduleFault(schedule.split(" "));

describe("a schedule", () => {
  test.each([
    ["* * * * *"],
    ["*/5 * * * *"],
    ["0 0 1 1 *"],
    ["0,15,30,45 8-18/2 * * mon-fri"],
    ["59 23 31 12 7"],
    ["0 0 31 1,2 *"], // January has one
    ["0 0 31 2 mon"], // any Monday of February does
    ["0 0 1-31/30 4 *"],
    ["0 0 * JAN Sun"],
    ["0~59 * * * *"],
    ["0 0 30 */2 *"],
  ])("%s is fine", (schedule) => {
    expect(fault(schedule)).toBeUndefined();
  });

  test.each<[schedule: string, isFatal: boolean, detail: RegExp]>([
    ["60 * * * *", true, /minute "60": use a number from 0 to 59/],
    ["* 24 * * *", true, /hour "24"/],
    ["* * 0 * *", true, /day of the month "0"/],
    ["* * * 13 *", true, /month "13"/],
    ["* * * * 8", true, /day of the week "8"/],
    ["* * * * mo", true, /day of the week "mo"/],
    ["*/0 * * * *", true, /step "0"/],
    ["*/x * * * *", true, /step "x"/],
    ["5/10 * * * *", true, /write 5-59/],
    ["* 22-4 * * *", true, /runs backwards \(22 to 4\)/],
    ["1,,2 * * * *", true, /minute/],
    ["-5 * * * *", true, /minute/],
    ["0 0 L * *", true, /day of the month "L"/],
    ["0 0 ? * *", true, /day of the month/],
    ["0 0 31 2 *", true, /never fires: none of these months has a day 31/],
    ["0 0 30 feb *", true, /never fires/],
    ["0 0 31 4,6,9,11 *", true, /never fires/],
    ["0 0 31 4 */2", true, /never fires/], // a field that begins with * restricts, and does not add
    ["0 0 29 2 *", false, /only in leap years/],
  ])("%s", (schedule, isFatal, detail) => {
    expect(fault(schedule)).toEqual({ isFatal, detail: expect.stringMatching(detail) });
  });
});

describe("a crontab", () => {
  test("has variables, comments, jobs", () => {
    const text = [
      "# m h dom mon dow command",
      "SHELL=/bin/sh",
      ' PATH = "/usr/bin:/bin" ',
      "'MAILTO'=",
      "",
      "  */5 * * * *  cd /x && ./y  ",
      "A=b c",
      "@daily ./z A=c",
      "",
    ].join("\n");
    const { jobs, faults } = parseCrontab(text, "user");
    expect(faults).toEqual([]);
    expect(jobs).toMatchObject([
      { line: 6, schedule: "*/5 * * * *", user: undefined, command: "cd /x && ./y", isCut: false },
      { line: 8, schedule: "@daily", command: "./z A=c" },
    ]);
    expect([...(jobs[0]?.variables ?? [])]).toEqual([
      ["SHELL", "/bin/sh"],
      ["PATH", "/usr/bin:/bin"],
      ["MAILTO", ""],
    ]);
    expect(jobs[1]?.variables.get("A")).toBe("b c");
  });

  test.each<[content: string, job: object]>([
    ["* * * * * a \\% b", { command: "a % b", isCut: false }],
    ["* * * * * a % b", { command: "a", isCut: true }],
    ["* * * * * a \\%% b", { command: "a %", isCut: true }],
    ["-* * * * * a", { schedule: "-* * * * *", command: "a" }],
    ["*\t*  * *\t* a", { command: "a" }],
    ["@REBOOT a", { command: "a" }],
  ])("%s", (content, job) => {
    expect(parseCrontab(`${content}\n`, "user")).toMatchObject({ jobs: [job], faults: [] });
  });

  test("of the system has users", () => {
    const { jobs } = parseCrontab("* * * * * root a b\n@daily app c\n", "system");
    expect(jobs).toMatchObject([
      { user: "root", command: "a b" },
      { user: "app", command: "c" },
    ]);
  });

  test.each<[text: string, format: "user" | "system", line: number, detail: RegExp]>([
    ["* * * * * a", "user", 1, /does not end in a newline/],
    ["\n* * * * * a\r\n", "user", 2, /carriage return/],
    ["* * * *\n", "user", 1, /neither a schedule/],
    ["* * * * *\n", "user", 1, /no command after the schedule/],
    ["@dayly a\n", "user", 1, /unknown schedule "@dayly"; use one of @reboot/],
    ["@daily\n", "user", 1, /no command/],
    ["* * * * * a\n", "system", 1, /no command after the user "a"/],
    ["hello world\n", "user", 1, /neither/],
    ["* * * * * /opt/a.sh b\n", "system", 1, /the user is missing: .*"\/opt\/a\.sh" is not a user/],
    ["* * * * * [ -x /opt/a ] && /opt/a\n", "system", 1, /the user is missing: .*"\[" is not a user/],
    ["* * * * * $JOB b\n", "system", 1, /the user is missing/],
  ])("%j as %s has a fault", (text, format, line, detail) => {
    const { faults } = parseCrontab(text, format);
    expect(faults).toMatchObject([{ line, isFatal: true, detail: expect.stringMatching(detail) }]);
  });

  test("never throws", () => {
    const piece = fc.constantFrom("*", " ", "\n", "5", "@daily", "A=b", "%", "\\", "#", "'", "\t", "x", "/");
    fc.assert(
      fc.property(fc.array(piece), fc.constantFrom("user" as const, "system" as const), (pieces, format) => {
        expect(() => parseCrontab(pieces.join(""), format)).not.toThrow();
      }),
    );
  });
});

describe("fields after the fifth", () => {
  test.each<[line: string, fields: number]>([
    ["*/5 * * * * * * echo x", 7],
    ["0 0 4 * * 1-5 2026 /opt/a", 7],
    ["0 0 4 * * mon-fri * /opt/a", 7],
    ["*/5 * * * * * echo x", 6],
    ["0 4 1 1 * 2027 /opt/a", 6],
    ["0 0 4 * * MON /opt/a", 6],
    ["0 0 4 * * ? /opt/a", 6],
    ["* * * * * *", 6],
  ])("%s", (line, fields) => {
    const detail = expect.stringContaining(`the schedule has ${fields} fields, but cron reads five`);
    expect(parseCrontab(`${line}\n`, "user")).toEqual({
      jobs: [],
      faults: [{ line: 1, isFatal: true, detail }],
    });
  });

  test("are told from a user and from programs", () => {
    expect(parseCrontab("*/5 * * * * * * root echo x\n", "system").faults).toMatchObject([
      { detail: expect.stringMatching(/7 fields.*takes "\*" for the user/) },
    ]);
    const fine = "* * * * * 7z a x\n* * * * * 2to3 x\n* * * * * ./*.sh\n* * * * * sundial\n@daily 1 x\n";
    expect(parseCrontab(fine, "user")).toMatchObject({ jobs: [{}, {}, {}, {}, {}], faults: [] });
    expect(parseCrontab("* * * * * mon /opt/a\n", "system").faults).toEqual([]);
  });

  test("a user in a crontab without users", () => {
    expect(parseCrontab("* * * * * root test -x /a && /a\n", "user").faults).toMatchObject([
      { isFatal: true, detail: expect.stringMatching(/command is "root".*--format system/) },
    ]);
    expect(parseCrontab("* * * * * root -b -q macro.C\n", "user").faults).toEqual([]);
  });
});
