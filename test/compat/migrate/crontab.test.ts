/** `signalbox migrate crontab`: files, flags, output and exit codes. */
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { createIo } from "../../../fixtures/cli/sample-commands.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { executeCommand } from "../../../src/cli/frame/command-line/execute-command.ts";
import { migrateCrontabCommand } from "../../../src/compat/migrate/crontab.ts";

let folder: string;
beforeEach(() => {
  folder = createTestFolder();
});

function file(name: string, text: string | Buffer) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function migrate(args: readonly string[], input = "") {
  const { io, written } = createIo({}, input);
  const code = await executeCommand(migrateCrontabCommand, args, io);
  return { code, stdout: written.out, stderr: written.err };
}

const OLD = "# jobs\n* * * * * flock -n /x job\n";
const NEW = "# jobs\n* * * * * signalbox run --lock /x -E 1 -- job\n";

test("prints the new text, and says on standard error where the meaning changes", async () => {
  const path = file("tab", OLD);
  const { code, stdout, stderr } = await migrate([path]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: NEW });
  expect(stderr).toMatch("tab:2: flock locks on one host");
  expect(readFileSync(path, "utf8")).toBe(OLD);
  expect(await migrate(["-q", path])).toEqual({ code: 0, stdout: NEW, stderr: "" });
});

test("a line that cannot be translated stays, with its reason, and exit code 0", async () => {
  const text = "* * * * * flock -u /x job\n";
  const { code, stdout, stderr } = await migrate([file("tab", text)]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: text });
  expect(stderr).toMatch("tab:1: unchanged: flock: -u releases a lock");
});

test("says once what holds for several lines", async () => {
  const { stderr } = await migrate(["-"], "* * * * * flock -n /x job\n".repeat(3));
  expect(stderr).toMatch(/^stdin:1: flock locks on one host[^\n]* \(and in lines 2, 3\)\n$/);
  const { stderr: many } = await migrate(["-"], "* * * * * flock -n /x job\n".repeat(30));
  expect(many).toMatch(/^stdin:1: [^\n]* \(and in lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 19 more\)\n$/);
});

describe("--check", () => {
  test.each([
    [
      OLD,
      1,
      /tab:2: would become: .*signalbox run[^\n]*\n.*tab:2: flock locks[^\n]*\n1 line would change, 0 lines cannot/,
    ],
    [
      "* * * * * flock -u /x job\n",
      1,
      /tab:1: unchanged[^\n]*\n0 lines would change, 1 line cannot be translated\n$/,
    ],
    [NEW, 0, /^nothing to do\n$/],
    ["* * * * * signalbox run -- cronlock job\n", 0, /starts cronlock[^\n]*\nnothing to do\n$/],
    ["", 0, /^nothing to do\n$/],
  ])("%j", async (text, code, report) => {
    const path = file("tab", text);
    const result = await migrate(["--check", path]);
    expect(result).toEqual({ code, stdout: expect.stringMatching(report), stderr: "" });
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  test("counts plain lines where they are asked for", async () => {
    const path = file("tab", "* * * * * job\n");
    expect((await migrate(["--check", path])).code).toBe(0);
    expect((await migrate(["--check", "--plain", path])).code).toBe(1);
    const dump = file("tab", "* * * * * mysqldump db\n");
    expect((await migrate(["--plain", dump])).stdout).toBe(
      "* * * * * signalbox run --lock mysqldump -- mysqldump db\n",
    );
  });
});

describe("--in-place", () => {
  test("writes the file, keeps its mode, leaves nothing beside it", async () => {
    const path = file("tab", OLD);
    chmodSync(path, 0o640);
    const { code, stdout } = await migrate(["--in-place", path]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(readFileSync(path, "utf8")).toBe(NEW);
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder)).toEqual(["tab"]);
  });

  test("writes what a link leads to", async () => {
    const path = file("tab", OLD);
    symlinkSync(path, join(folder, "link"));
    await migrate(["--in-place", join(folder, "link")]);
    expect(readFileSync(path, "utf8")).toBe(NEW);
  });

  test("does not touch a file in which nothing changes", async () => {
    const path = file("tab", NEW);
    const { ino, mtimeMs } = statSync(path);
    expect((await migrate(["--in-place", path])).code).toBe(0);
    expect(statSync(path)).toMatchObject({ ino, mtimeMs });
  });

  test.each([
    [["--in-place", "-"], "standard input"],
    [["--in-place", "--check", "tab"], "--check"],
  ])("%j is refused", async (args, message) => {
    expect(await migrate(args)).toEqual({ code: 64, stdout: "", stderr: expect.stringContaining(message) });
  });
});

test("--json tells of each line, and holds the text", async () => {
  const path = file("tab", `${OLD}* * * * * flock -u /x job\n* * * * * signalbox run -- flock -n /x y\n`);
  const { code, stdout } = await migrate(["--json", "-q", path]);
  const document = JSON.parse(stdout);
  expect(code).toBe(0);
  expect(document).toMatchObject({
    file: path,
    format: "user",
    read: [],
    lines: [
      {
        line: 2,
        state: "changed",
        tools: ["flock"],
        before: OLD.split("\n")[1],
        after: NEW.split("\n")[1],
        reason: null,
      },
      { line: 3, state: "kept", reason: expect.stringContaining("-u releases"), tools: [], notes: [] },
      { line: 4, state: "unchanged", reason: null, notes: [expect.stringContaining("flock")] },
    ],
  });
  expect(document.text).toBe(`${NEW}* * * * * flock -u /x job\n* * * * * signalbox run -- flock -n /x y\n`);
  expect((await migrate(["--json", "--check", path])).code).toBe(1);
});

describe("formats", () => {
  const system = "* * * * * flock flock -n /x job\n";
  test("as the flag says, the path, or the lines", async () => {
    const path = file("tab", system);
    const expected = "* * * * * flock signalbox run --lock /x -E 1 -- job\n";
    expect((await migrate(["--format", "system", path])).stdout).toBe(expected);
    expect((await migrate(["-"], "* * * * * root flock -n /x job\n")).stdout).toContain("root signalbox run");
    expect((await migrate(["--format", "user", "-"], "* * * * * root flock -n /x job\n")).stdout).toContain(
      "root flock",
    );
    expect((await migrate(["-"], "* * * * * cronlock job a\n")).stdout).toMatch(
      /^\* \* \* \* \* signalbox run/,
    );
  });
});

describe("configuration files of the tools", () => {
  test("those that were named, by what they hold", async () => {
    const conf = file("my.conf", "CRONLOCK_KEY=filed\nCRONLOCK_GRACE=7\n");
    const path = file("tab", "* * * * * cronlock job\n");
    const { stdout, stderr } = await migrate(["--tool-config", conf, path]);
    expect(stdout).toMatch(/--lock cronlock\.filed .*--grace 7s/);
    expect(stderr).toContain(`${conf}: read`);
    expect(await migrate(["--tool-config", conf, "--tool-config", conf, path])).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/a file for \/etc\/cronlock.conf is given already/),
    });
  });

  test("those that a line names, as they are here", async () => {
    const conf = file("line.conf", "CRONLOCK_KEY=lined\n");
    const { stdout, stderr } = await migrate(["-"], `* * * * * CRONLOCK_CONFIG=${conf} cronlock job\n`);
    expect(stdout).toMatch("* signalbox run --lock cronlock.lined ");
    expect(stderr).toContain(`${conf}: read`);
  });

  test("one that would never come to an end is not read", async () => {
    const pipe = join(folder, "pipe");
    spawnSync("mkfifo", [pipe]);
    const { stderr } = await migrate(["-"], `* * * * * CRONLOCK_CONFIG=${pipe} cronlock job\n`);
    expect(stderr).toContain(`${pipe}: cannot be read`);
  });

  test("one that cannot be read is named", async () => {
    const { stdout, stderr } = await migrate(["-"], `* * * * * CRONLOCK_CONFIG=${folder} cronlock job\n`);
    expect(stdout).toContain("cronlock job");
    expect(stderr).toMatch(/unchanged: .*could not be read/);
    expect(stderr).toContain(`${folder}: cannot be read`);
  });
});

test.each([
  [
    "a file that is none",
    () => [join(folder, "none")],
    74,
    /none" cannot be read: no such file or directory \(ENOENT\)/,
  ],
  ["a folder", () => [folder], 74, /cannot be read: illegal operation on a directory \(EISDIR\)/],
  ["a device without end", () => ["/dev/zero"], 74, /it is a device/],
  [
    "no UTF-8",
    () => [file("tab", Buffer.from("# a\n# \xe9\n", "latin1"))],
    74,
    /line 2: it is not UTF-8.*iconv/,
  ],
  ["no text", () => [file("tab", "a\0b")], 74, /not a text file/],
  ["a tool's file that is none", () => ["--tool-config", join(folder, "none"), "-"], 74, /cannot be read/],
  ["a program with words", () => ["--program", "sudo signalbox", "-"], 64, /--program "sudo signalbox"/],
  [
    "plain lines whose first word may be a user or a command",
    () => ["--plain", file("tab", "* * * * * report db\n")],
    64,
    /the first word of its commands may be a user or a program \(line 1\); give --format system or --format user/,
  ],
  ["another program", () => ["--program", "/usr/bin/flock", "-"], 64, /--program/],
  ["no file", () => [], 64, /FILE/],
])("%s", async (_what, args, code, message) => {
  expect(await migrate(args())).toEqual({ code, stdout: "", stderr: expect.stringMatching(message) });
});

test("what a crontab holds cannot speak to the terminal", async () => {
  const { stderr } = await migrate(
    ["-"],
    "* * * * * flock -w '\x1b]0;x\x07' /x job\n* * * * * \x1b[2Jw flock -n /x y\n",
  );
  expect(stderr).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  expect(stderr).toMatch(/stdin:1: .*stdin:2: /s);
});
