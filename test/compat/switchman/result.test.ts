import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { RunResult } from "../../../src/cli/commands/run/execute-run.ts";
import { parseSwitchman } from "../../../src/cli/syntax/switchman-call.ts";
import {
  reportSwitchmanFailure,
  reportSwitchmanResult,
  SwitchmanLog,
} from "../../../src/compat/switchman/switchman.impl.ts";
import { ConfigError, EXIT, SignalboxError } from "../../../src/core/base/errors.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(2026, 0, 2, 3, 4, 5), toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const AT = `2026-01-02 03:04:05\t[${process.pid}]\t`;

function listening(isDebugging: boolean) {
  const lines: string[] = [];
  const err = (text: string) => lines.push(text) > 0;
  const log = new SwitchmanLog({ file: undefined, level: "info", isDebugging, writeStderr: err });
  return { log, lines };
}

const refused = (refusal: object) => ({ kind: "refused", code: 75, refusal }) as RunResult;
const ended = (exit: object, ending?: object) => ({ kind: "ended", code: 1, exit, ending }) as RunResult;

describe("what a run came to", () => {
  test.each<
    [what: string, words: string[], result: RunResult, code: number, quiet: string[], more: string[]]
  >([
    ["busy", ["x"], refused({ kind: "busy" }), 0, [], ["Lock x already exists"]],
    [
      "queued",
      ["--no-lock", "--lease", "d=1:2", "x"],
      refused({ kind: "busy" }),
      0,
      [],
      ["Task <x> is already queued up for one of <d=1:2>"],
    ],
    [
      "outside",
      ["-g", "w", "x"],
      refused({ kind: "outside", group: "w" }),
      0,
      [],
      ["Group <w> is not serviced at the moment"],
    ],
    ["drained", ["x"], refused({ kind: "drained", drains: [{ by: "ops" }] }), 0, [], ["Drained by ops"]],
    [
      "too long",
      ["x"],
      refused({ kind: "timeout", why: "" }),
      255,
      ["Reached timeout while waiting for resources"],
      [],
    ],
    ["evicted", ["x"], refused({ kind: "evicted", by: "ops" }), 255, ["Lost position in queue"], []],
    ["lapsed", ["x"], refused({ kind: "lapsed" }), 255, ["Lost position in queue"], []],
    ["interrupted", ["x"], { kind: "interrupted", code: 143 }, 143, [], []],
    ["done", ["x"], ended({ code: 0 }), 0, [], []],
    ["its own code", ["x"], ended({ code: 3 }), 3, ["Child 7 exited with 3"], []],
    ["killed", ["x"], ended({ signal: 9 }), 0, [], []],
    ["lost, and killed", ["x"], ended({ signal: 15 }, { kind: "lost", why: "" }), 0, [], []],
  ])("%s", (_, words, result, code, quiet, more) => {
    for (const isDebugging of [false, true]) {
      const { log, lines } = listening(isDebugging);
      log.child = 7;
      expect(reportSwitchmanResult(result, parseSwitchman(words), log)).toBe(code);
      const told = [...quiet, ...(isDebugging ? more : [])];
      expect(lines).toEqual(told.map((message) => `${AT}${message}\n`));
    }
  });

  test.each([
    [new SignalboxError(EXIT.notFound, "it was not found"), 2, "Failed to exec <x a>: it was not found"],
    [new SignalboxError(EXIT.notExecutable, "it cannot"), 13, "Failed to exec <x a>: it cannot"],
    [new ConfigError("wrong\u001b[2J"), 255, "wrong"],
    [new SignalboxError(EXIT.lost, "lost"), 255, "lost"],
  ])("%s: %i", (error, code, line) => {
    const { log, lines } = listening(false);
    expect(reportSwitchmanFailure(error, parseSwitchman(["x", "a"]), log)).toBe(code);
    expect(lines).toEqual([`${AT}${line}\n`]);
  });
});

test("what the engine says: is for those who debug, but warnings; of its child it learns the process id", () => {
  for (const isDebugging of [false, true]) {
    const { log, lines } = listening(isDebugging);
    log.sink.debug("next: claim");
    log.sink.info("started", { command: "x", pid: 12 });
    log.sink.warn("etcd does not answer", { error: "a\u001b[2Jb", none: undefined });
    log.sink.warn("terminating the command", { why: "it was reset" });
    log.sink.error("the claim was lost, the command was terminated", { why: "it was reset" });
    expect(log.child).toBe(12);
    const warnings = ["etcd does not answer error=ab", "It's not secure to proceed, it was reset"];
    const all = [
      "next: claim",
      "started command=x pid=12",
      "etcd does not answer error=ab",
      "Terminating the child: it was reset",
      "It's not secure to proceed, it was reset",
    ];
    expect(lines).toEqual((isDebugging ? all : warnings).map((message) => `${AT}${message}\n`));
  }
});
