import { describe, expect, test } from "vitest";
import { createToolContext } from "../../../fixtures/cli/tool-context.ts";
import { splitShellWords } from "../../../fixtures/split-shell-words.ts";
import { runCommand } from "../../../src/cli/commands/run/run.ts";
import { parseCall } from "../../../src/cli/frame/command-line/parse-call.ts";
import { parseZooLockedOptions, translateZooLocked } from "../../../src/compat/zoo-locked/options.ts";
import { UsageError } from "../../../src/core/base/errors.ts";

const QUIET = /^nothing is printed if the lock is taken/;
const OURS = /^signalbox's own configuration must say where etcd is/;

describe("a line of zoo-locked", () => {
  test.each([
    ["e1:2379 /a x", "e1:2379", "a", "x"],
    ["e1:2379,e2:2379 /locks/a 'x > /dev/null'", "e1:2379,e2:2379", "locks/a", "x > /dev/null"],
    ["https://e1:2379 /a 'x; y'", "https://e1:2379", "a", "x; y"],
    ["http://e1:2379/ /a x", "http://e1:2379/", "a", "x"],
    ["[::1]:2379 /a x", "[::1]:2379", "a", "x"],
    ["zk1:2181 /a x", undefined, "a", "x"],
    ["zk1:2181,zk2:2181 /a x", undefined, "a", "x"],
    ["e1:2379 '/日本/a b' x", "e1:2379", "日本/a b", "x"],
  ])("%s", (line, endpoints, lock, text) => {
    const words = splitShellWords(line);
    expect(parseZooLockedOptions(words)).toEqual({
      endpoints,
      lock,
      command: ["sh", "-c", text],
      ignored: [],
    });
    const ours = translateZooLocked(words, createToolContext());
    expect(ours).toMatchObject({
      options: ["-E", "0", "--lock", lock, ...(endpoints === undefined ? [] : ["--endpoints", endpoints])],
      command: ["sh", "-c", text],
      notes: [
        expect.stringMatching(QUIET),
        ...(endpoints === undefined ? [expect.stringMatching(OURS)] : []),
      ],
    });
    expect(() => parseCall(runCommand, [...ours.options, "--", ...ours.command])).not.toThrow();
  });

  test.each([
    ["e:1", "too few arguments: 1"],
    ["e:1 /a ' '", "the command is empty"],
    ["e:2379,f:2379/chroot/b /a x", "end in a path"],
    ["https://e:2379/c /a x", "end in a path"],
    ["e:1 '' x", 'PATH "" cannot be used'],
    ["e:1 / x", 'PATH "/" cannot be used: it needs a name'],
    ["e:1 /a//b x", "it needs a name between slashes"],
    ["e:1 /a/../b x", "no part of it can be"],
  ])("%s is refused", (line, fault) => {
    expect(() => parseZooLockedOptions(splitShellWords(line))).toThrow(UsageError);
    expect(() => parseZooLockedOptions(splitShellWords(line))).toThrow(fault);
  });
});
