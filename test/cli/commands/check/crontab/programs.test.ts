/** Whether a program starts with the PATH of its crontab: the check agrees with a real shell. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createTestFolder } from "../../../../../fixtures/test-folder.ts";
import { readJobs } from "../../../../../src/cli/commands/check/crontab/read.ts";
import { parseCrontab } from "../../../../../src/cli/syntax/crontab.ts";
import { resolveConfig } from "../../../../../src/core/config/config.ts";
import { findProgram, readInterpreter } from "../../../../../src/core/process/programs.ts";

const SETTINGS = resolveConfig({ readFile: () => undefined }).values;
const root = createTestFolder(afterAll);

function write(path: string, text: string, mode = 0o755) {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

write("app/signalbox", "#!/usr/bin/env node-of-tests\n");
write("node/node-of-tests", "#!/bin/sh\nexit 0\n");
write("plain/signalbox", "#!/bin/sh\nexit 0\n");
write("split/signalbox", "#!/usr/bin/env -S node-of-tests --title=x\n");
write("broken/signalbox", "#!/no/such/interpreter\n");
write("closed/signalbox", "#!/bin/sh\n", 0o644);
mkdirSync(join(root, "link"));
symlinkSync(join(root, "app/signalbox"), join(root, "link/signalbox"));
mkdirSync(join(root, "dangling"));
symlinkSync(join(root, "gone/signalbox.cjs"), join(root, "dangling/signalbox"));
const at = (...names: string[]) => names.map((name) => join(root, name)).join(":");

const programFindings = (text: string, searchPath = at("link", "node")) =>
  readJobs(
    { path: "jobs", text, format: "user" },
    { settings: SETTINGS, home: root, searchPath },
  ).findings.filter(({ kind }) => kind === "program");

/** The exit code with which cron's shell ends on the only line of a crontab. */
function startAsCron(text: string) {
  const [job] = parseCrontab(text, "user").jobs;
  const env = { HOME: root, PATH: "/usr/bin:/bin", ...Object.fromEntries(job?.variables ?? []) };
  return spawnSync("/bin/sh", ["-c", job?.command ?? ""], { env, cwd: root }).status;
}

describe("a line whose program starts, and one whose does not", () => {
  const LINE = "* * * * * signalbox run --lock a -- true\n";
  test.each([
    ["no PATH line", "JOB", /^signalbox is not found; PATH is \/usr\/bin:\/bin, cron's default/],
    ["a PATH line with both", "PATH=ROOT/app:ROOT/node\nJOB"],
    ["a PATH line in quotes", 'PATH="ROOT/app:ROOT/node:/usr/bin"\nJOB'],
    ["a PATH line behind the job", "JOB\nPATH=ROOT/app:ROOT/node", /^signalbox is not found/],
    [
      "its Node is elsewhere",
      "PATH=ROOT/app\nJOB",
      /^node-of-tests, which signalbox needs to start, is not found; PATH/,
    ],
    ["env -S", "PATH=ROOT/split\nJOB", /^node-of-tests, which signalbox needs/],
    ["env -S, found", "PATH=ROOT/split:ROOT/node\nJOB"],
    ["through a link", "PATH=ROOT/link\nJOB", /^node-of-tests, which signalbox needs/],
    [
      "an absolute path, Node elsewhere",
      "* * * * * ROOT/link/signalbox run -- true",
      /^node-of-tests, which \S+\/link\/signalbox needs/,
    ],
    [
      "an absolute path, nothing there",
      "* * * * * /no/such/signalbox run -- true",
      /^\/no\/such\/signalbox is not found$/,
    ],
    ["a plain script by its path", "* * * * * ROOT/plain/signalbox run -- true"],
    [
      "an interpreter that is not there",
      "PATH=ROOT/broken\nJOB",
      /^\/no\/such\/interpreter, which signalbox needs/,
    ],
    ["not executable", "PATH=ROOT/closed\nJOB", /^signalbox is not found: \S+ is not executable; PATH/],
    [
      "a link to nothing",
      "PATH=ROOT/dangling\nJOB",
      /is a link to \S+gone\/signalbox.cjs, which does not exist/,
    ],
    ["not executable here, found behind it", "PATH=ROOT/closed:ROOT/plain\nJOB"],
    [
      "$PATH, which cron leaves as it is",
      "PATH=$PATH:ROOT/app\nJOB",
      /^node-of-tests.*cron does not expand variables/,
    ],
    ["PATH before the command", "* * * * * PATH=ROOT/app:ROOT/node:$PATH signalbox run -- true"],
    ["env PATH=", "* * * * * env PATH=ROOT/app:ROOT/node signalbox run -- true"],
    ["export PATH=", "* * * * * export PATH=ROOT/app:ROOT/node:$PATH; signalbox run -- true"],
    ["$HOME", "* * * * * $HOME/plain/signalbox run -- true"],
    ["$HOME, nothing there", "* * * * * $HOME/gone/signalbox run -- true", /gone\/signalbox is not found/],
    ["sh -c", "* * * * * sh -c 'signalbox run -- true'", /^signalbox is not found/],
    ["behind nice", "* * * * * nice -n 10 signalbox run -- true", /^signalbox is not found/],
    ["another tool", "* * * * * zoo-locked a:2379 /locks/x true", /^zoo-locked is not found/],
    ["behind signalbox", "PATH=ROOT/plain\n* * * * * signalbox switchman -- true"],
  ])("%s", (_, text, detail?) => {
    const crontab = `${text.replace("JOB", LINE.trimEnd()).replaceAll("ROOT", root)}\n`;
    const found = programFindings(crontab);
    expect(found.map((finding) => finding.detail)).toEqual(
      detail === undefined ? [] : [expect.stringMatching(detail)],
    );
    expect(found.every(({ level }) => level === "failure")).toBe(true);
    // 126 and 127 are the shell's, of `env` and of `nice`, for what cannot be started.
    const code = startAsCron(crontab);
    expect(code === 127 || code === 126).toBe(detail !== undefined);
  });

  test("what only the shell can know is not judged", () => {
    for (const line of [
      ". /etc/profile; signalbox run -- true",
      "source ~/.nvm/nvm.sh && signalbox run -- true",
      "bash -lc 'signalbox run -- true'",
      "sudo -u app signalbox run -- true",
      "su - app -c 'signalbox run -- true'",
      "~/bin/signalbox run -- true",
      "./signalbox run -- true",
      "cd /srv && bin/signalbox run -- true",
      "PATH=$(getconf PATH):/opt signalbox run -- true",
      "env -i signalbox run -- true",
    ])
      expect([line, programFindings(`* * * * * ${line}\n`)]).toEqual([line, []]);
  });

  test("not asked for: nothing is looked for", () => {
    const ground = { settings: SETTINGS, home: root };
    expect(readJobs({ path: "jobs", text: LINE, format: "user" }, ground).findings).toEqual([]);
  });

  test("one finding for all lines of a file, with the PATH line that helps", () => {
    const [finding, ...others] = programFindings(LINE.repeat(3));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      check: "jobs:1",
      detail: expect.stringMatching(/\(and in 2 more lines\)$/),
      remedy: `write above the line: PATH=${at("link", "node")}:/usr/bin:/bin`,
    });
    const [, line = ""] = /(PATH=.*)$/.exec(finding?.remedy ?? "") ?? [];
    expect(programFindings(`${line}\n${LINE.repeat(3)}`)).toEqual([]);
    expect(startAsCron(`${line}\n${LINE}`)).toBe(0);
  });
});

describe("what a line needs on this host", () => {
  const judgeLine = (line: string, format: "user" | "system" = "user") =>
    readJobs(
      { path: "jobs", text: `PATH=${at("plain")}:/usr/bin:/bin\n${line}\n`, format },
      { settings: SETTINGS, home: root, searchPath: "" },
    ).findings.map(({ level, detail }) => `${level}: ${detail}`);

  test.each([
    ["* * * * * signalbox run --lock a -- /no/such/job", /^failure: \/no\/such\/job is not found$/],
    ["* * * * * signalbox run --lock a -- no-such-job", /^failure: no-such-job is not found; PATH is/],
    ["* * * * * signalbox run --lock a -- cd /tmp", /^failure: cd is not found/], // no shell runs it
    ["* * * * * signalbox run --lock a -- nice /no/such/job", /^failure: \/no\/such\/job is not/],
    [
      "* * * * * signalbox run --lock a -- sh -c 'cd /no/such && x'",
      /^failure: cd \/no\/such: the folder does not/,
    ],
    ["* * * * * no-such-job -v", /^warning: no-such-job is not found; PATH is/],
    ["* * * * * A=b nice -n 5 /no/such/job", /^warning: \/no\/such\/job is not found$/],
    [
      "* * * * * cd /no/such && signalbox run --lock a -- true",
      /^failure: cd \/no\/such: the folder does not exist$/,
    ],
    [
      "* * * * * true > /no/such/x.log 2>&1",
      /^warning: > \/no\/such\/x.log: the folder \/no\/such does not exist/,
    ],
    [
      "* * * * * signalbox run --lock a -- true 2>> /no/such/x.log",
      /^failure: >> \/no\/such\/x.log: the folder/,
    ],
    ["* * * * * true < /no/such/list", /^warning: < \/no\/such\/list: the file does not exist/],
  ])("%s", (line, detail) => {
    const found = judgeLine(line).filter((one) => !/\bx is not found/.test(one));
    expect(found).toEqual([expect.stringMatching(detail)]);
  });

  test.each([
    "* * * * * flock -n /tmp/x no-such-job",
    "* * * * * flock -w 5 /tmp/x -c 'no-such-job --all'",
    "* * * * * setlock -n /tmp/x no-such-job",
    "* * * * * [ -d /tmp ] && no-such-job",
    "* * * * * test -e /tmp && flock -n /tmp/x nice no-such-job",
  ])("behind a lock or a condition: %s", (line) => {
    expect(judgeLine(line).filter((one) => !/setlock/.test(one))).toEqual([
      expect.stringMatching(/^warning: no-such-job is not found/),
    ]);
  });

  test.each([
    ["* * * * * [ -d /no/such ] && /no/such/bin/job"],
    ["* * * * * which no-such-job > /dev/null && no-such-job"],
    ["* * * * * test -x /no/such/job && /no/such/job"],
    ["* * * * * [ -d /no/such ] && cd /no/such && signalbox run --lock a -- ./x"],
    ["* * * * * if command -v no-such-job; then no-such-job; fi"],
    ["* * * * * mkdir -p /no/such && true > /no/such/x"],
    ["* * * * * f() { no-such-job; }; true"],
    ["* * * * * for x in a b; do echo $x; done > /dev/null"],
    ["* * * * * docker exec web sh -c 'cd /no/such && no-such-job' || true; ssh web no-such-job || true"],
    ["* * * * * bin/job > log/x < $LIST 2>&1"],
    ["* * * * * $HOME/x-$(date).sh; /no/such-$(date); *_x"],
    ["* * * * * true > /no/$X/y; cd $X; cd -; cd"],
    ["* * * * * . /etc/profile; no-such-job"],
    ["* * * * * signalbox run -c /dev/null --lock a -- true"],
  ])("not judged, or fine: %s", (line) => {
    expect(judgeLine(line).filter((one) => !/(docker|ssh|config|JSON)/.test(one))).toEqual([]);
  });

  test("an unknown user", () => {
    expect(judgeLine("* * * * * root true", "system")).toEqual([]);
    expect(judgeLine("* * * * * no-such-user true", "system")).toEqual([
      expect.stringMatching(/^warning: user "no-such-user" is not in \/etc\/passwd/),
    ]);
  });
});

describe("a program's file", () => {
  test("a folder of that name does not count; a file that cannot be read is unknown", () => {
    mkdirSync(join(root, "folder/signalbox"), { recursive: true });
    expect(findProgram("signalbox", at("folder"))).toEqual({ kind: "missing" });
    expect(findProgram("signalbox", `${at("closed/signalbox")}:${at("plain")}`)).toMatchObject({
      kind: "found",
    });
    expect(findProgram("x", `:${at("plain")}`)).toEqual({ kind: "unknown" });
  });

  test.each([
    ["#!/usr/bin/env node\n", "node"],
    ["#! /usr/bin/env -S A=b node --x\n", "node"],
    ["#!/bin/sh -e\n", "/bin/sh"],
    ["#!\n", undefined],
    ["\x7fELF", undefined],
    ["", undefined],
  ])("%j starts with %s", (text, interpreter) => {
    expect(readInterpreter(write("first-line", text))).toBe(interpreter);
    expect(readInterpreter(join(root, "none"))).toBeUndefined();
  });

  test("that of the npm package needs node, which it becomes without an agent, also by a link", () => {
    mkdirSync(join(root, "package"), { recursive: true });
    const program = write("package/signalbox", "#!/bin/sh\n");
    expect(readInterpreter(program)).toBe("/bin/sh");
    write("package/signalbox.cjs", "");
    symlinkSync(program, join(root, "package/linked"));
    expect(readInterpreter(join(root, "package/linked"))).toBe("node");
    const own = write("package/node", ""); // of a clone
    expect(readInterpreter(join(root, "package/linked"))).toBe(own);
  });
});
