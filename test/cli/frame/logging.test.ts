import { execFile, execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { generateText } from "../../../fixtures/protocol/samples.ts";
import { type LogOptions, openLog } from "../../../src/cli/frame/logging.ts";
import { ConfigError } from "../../../src/core/base/errors.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-log-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Text that is not meant for terminals. */
const hostile = fc
  .array(
    fc.oneof(
      generateText({ maxLength: 4 }),
      fc.constantFrom("\x1b[", "\x9b31m", "\x07", "\x85", "\u202e", "\u2028"),
    ),
  )
  .map((pieces) => pieces.join(""));

const wall = () => Date.UTC(2026, 0, 2, 3, 4, 5);
const file = () => join(folder, "log");
const open = (options: Partial<LogOptions> = {}) =>
  openLog({ file: file(), level: "debug", format: "text", isQuiet: false, ...options }, wall);
const written = (path = file()) => readFileSync(path, "utf8");
const stamp = `2026-01-02T03:04:05.000Z signalbox[${process.pid}]: `;

describe("a line of text", () => {
  test.each([
    ["granted", undefined, "granted"],
    ["granted", { token: 12n, waited: 4, ok: true, label: undefined }, "granted token=12 waited=4 ok=true"],
    [
      "granted",
      { lock: "a b", host: "web1.example.com:4", e: "" },
      'granted lock="a b" host=web1.example.com:4 e=""',
    ],
    ["two\nlines", { error: "a\nb" }, 'two lines error="a\\nb"'],
    ["\x1b[31mred", { host: "\x1b]0;x\x07" }, 'red host="\\u001b]0;x\\u0007"'],
  ])("%j with %s", (message, fields, line) => {
    open().info(message, fields);
    expect(written()).toBe(`${stamp}${line}\n`);
  });

  test.each([
    ["debug", "debug: m"],
    ["info", "m"],
    ["warn", "warn: m"],
    ["error", "error: m"],
  ] as const)("of level %s says so, but for info", (level, line) => {
    open()[level]("m");
    expect(written()).toBe(`${stamp}${line}\n`);
  });

  test("is one line without control characters for any logged value", () => {
    const log = open();
    fc.assert(
      fc.property(hostile, hostile, (message, host) => {
        const before = written().length;
        log.warn(message, { host });
        const line = written().slice(before);
        expect(line.slice(0, -1)).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028-\u202e]/);
        expect(line.endsWith("\n")).toBe(true);
      }),
    );
  });
});

test("a line of JSON is read back as it was logged, and holds nothing that a terminal acts on", () => {
  const log = open({ format: "json" });
  const fields = fc.record({
    host: hostile,
    token: fc.bigInt(),
    count: fc.nat(),
    ok: fc.boolean(),
  });
  fc.assert(
    fc.property(hostile, fields, (message, more) => {
      const before = written().length;
      log.error(message, { ...more, label: undefined });
      const line = written().slice(before);
      expect(line.slice(0, -1)).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028-\u202e]/);
      expect(JSON.parse(line)).toEqual({
        time: "2026-01-02T03:04:05.000Z",
        level: "error",
        message,
        ...more,
        token: String(more.token),
      });
    }),
  );
});

test.each([
  ["debug", ["debug", "info", "warn", "error"]],
  ["info", ["info", "warn", "error"]],
  ["warn", ["warn", "error"]],
  ["error", ["error"]],
] as const)("from level %s on, %j are written", (level, expected) => {
  const log = open({ level, format: "json" });
  for (const each of ["debug", "info", "warn", "error"] as const) log[each]("m");
  const levels = written()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).level);
  expect(levels).toEqual(expected);
});

describe("the file", () => {
  test("is appended to, not emptied, and quiet means standard error alone; others cannot read it", () => {
    open().info("one");
    open({ isQuiet: true }).info("two");
    expect(written()).toBe(`${stamp}one\n${stamp}two\n`);
    expect(statSync(file()).mode & 0o007).toBe(0);
  });

  test.runIf(existsSync("/proc/self/fd"))("that was moved is not kept open", () => {
    const log = open();
    const before = readdirSync("/proc/self/fd").length;
    for (let times = 0; times < 20; times += 1) log.reopen();
    expect(readdirSync("/proc/self/fd").length).toBeLessThan(before + 10);
  });

  test("that cannot be opened is an error of configuration, with its path", () => {
    for (const path of [join(folder, "none", "log"), folder]) {
      expect(() => open({ file: path })).toThrow(ConfigError);
      expect(() => open({ file: path })).toThrow(path);
    }
  });

  test("that cannot be opened again is written to as before, and the run goes on", () => {
    const log = open();
    const moved = join(folder, "log.1");
    renameSync(file(), moved);
    mkdirSync(file());
    log.reopen();
    log.info("still here");
    expect(written(moved)).toMatch(/error: cannot open the log file.*still here\n$/s);
  });

  test.runIf(existsSync("/dev/full"))(
    "on a full disk loses lines, not the run: said once, and counted at the end",
    () => {
      const said: string[] = [];
      const log = open({ file: "/dev/full", writeError: (text) => void said.push(text) });
      log.error("m");
      log.reopen();
      log.error("m");
      const first =
        "signalbox: warn: lines of the log file /dev/full are lost: no space left on device (ENOSPC)\n";
      expect(said).toEqual([first]);
      log.close?.();
      expect(said).toEqual([first, "signalbox: warn: 2 lines of the log file /dev/full were lost\n"]);
      const quiet: string[] = [];
      const other = open({ file: "/dev/full", isQuiet: true, writeError: (text) => void quiet.push(text) });
      other.error("m");
      other.close?.();
      expect(quiet).toEqual([]);
    },
  );

  test("may be a pipe: one that nobody reads is an error, a full one loses lines", () => {
    const path = file();
    execFileSync("mkfifo", [path]);
    expect(() => open()).toThrow("ENXIO");
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const said: string[] = [];
    const log = open({ writeError: (text) => void said.push(text) });
    for (let lines = 0; lines < 200; lines += 1) log.info("m".repeat(1_000)); // a pipe takes 64 KiB
    closeSync(reader);
    log.info("m");
    expect(said).toEqual([expect.stringMatching(/are lost: .*EAGAIN/)]);
  });
});

describe("standard error", () => {
  /** What a process of its own says there. */
  async function said(options: Partial<LogOptions>) {
    const module = JSON.stringify(resolve("src/cli/frame/logging.ts"));
    const all = JSON.stringify({ level: "warn", format: "text", isQuiet: false, ...options });
    const script = `const { openLog } = await import(${module}); const log = openLog(${all}, () => 0);
      log.info("not this"); log.warn("m", { host: "h" }); log.reopen(); log.error("n");`;
    const flags = ["--no-warnings", "--input-type=module", "-e", script];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, flags);
    expect(stdout).toBe("");
    return stderr;
  }

  test("has short lines, without time and process, and none when it is quiet", async () => {
    expect(await said({})).toBe("signalbox: warn: m host=h\nsignalbox: error: n\n");
    expect(await said({ isQuiet: true })).toBe("");
  });
});
