import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readlinkSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { clock, createMark, findGuardians, getFixturePath, startGuarded, startRunner } from "./helpers.ts";

const run = promisify(execFile);
const buildShellCommand = (script: string): [string, ...string[]] => ["sh", "-c", script];

async function runToEnd(command: [string, ...string[]], input: Buffer | string = "") {
  const { process, ended } = startRunner(createMark(), { command });
  process.stdin?.on("error", () => {}).end(input);
  return ended;
}

test.each([
  ["exit 0", 0],
  ["exit 1", 1],
  ["exit 42", 42],
  ["exit 255", 255],
  ["kill -TERM $$", 143],
  ["kill -KILL $$", 137],
  ["kill -SEGV $$", 139],
])("`%s` ends the runner with %i, and nothing is said", async (script, code) => {
  const { stdout, stderr, ...rest } = await runToEnd(buildShellCommand(script));
  expect({ ...rest, out: stdout.toString(), err: stderr.toString() }).toEqual({
    code,
    signal: null,
    out: "",
    err: "",
  });
});

test.each(["cat", "cat >&2"])("a mebibyte passes byte for byte through `%s`", async (script) => {
  const bytes = randomBytes(1024 * 1024);
  const { code, stdout, stderr } = await runToEnd(buildShellCommand(script), bytes);
  expect(code).toBe(0);
  expect((script === "cat" ? stdout : stderr).equals(bytes)).toBe(true);
});

test("1,000 lines come out in order", async () => {
  const { stdout } = await runToEnd(["seq", "1000"]);
  expect(stdout.toString().trim().split("\n").map(Number)).toEqual(
    Array.from({ length: 1000 }, (_, i) => i + 1),
  );
});

test("a reader that closes early ends the command by SIGPIPE, without hang or noise", async () => {
  const order = JSON.stringify({ command: ["yes"], termIn: 20_000, killIn: 21_000 });
  const script = `"$0" "$@" 3>/dev/null | head -n 1000 | tail -n 1; echo \${PIPESTATUS[0]}`; // a pipe; Node's are sockets
  const { stdout, stderr } = await run("bash", [
    "-c",
    script,
    process.execPath,
    getFixturePath("runner.ts"),
    order,
  ]);
  expect({ stdout, stderr }).toEqual({ stdout: `y\n${128 + 13}\n`, stderr: "" });
});

test("no guardian holds the command's output open", async () => {
  const mark = createMark();
  const { it } = await startGuarded(mark, ["sleep", "30"]);
  for (const { pid } of Object.values(findGuardians(mark)))
    for (const fd of [0, 1, 2]) expect(readlinkSync(`/proc/${pid}/fd/${fd}`)).toBe("/dev/null");
  it.terminate(clock.now());
  await it.gone;
});

test("the command has no descriptor but 0, 1 and 2", async () => {
  const { stdout } = await runToEnd(buildShellCommand("exec ls /proc/self/fd"));
  expect(stdout.toString().trim().split("\n")).toEqual(["0", "1", "2", "3"]); // 3 is the folder that ls reads
});

test("signals are at their defaults, and none is blocked", async () => {
  const { stdout } = await runToEnd(["cat", "/proc/self/status"]);
  expect(stdout.toString()).toMatch(/^SigBlk:\t0+\nSigIgn:\t0+\nSigCgt:\t0+$/m);
});

test("a pipeline inside the command dies quietly of its closed pipe", async () => {
  const { code, stdout, stderr } = await runToEnd(buildShellCommand("yes | head -n 1"));
  expect({ code, out: stdout.toString(), err: stderr.toString() }).toEqual({ code: 0, out: "y\n", err: "" });
});

test("folder, environment and what was added to it arrive", async () => {
  const { stdout } = await runToEnd(buildShellCommand('pwd; echo "$SIGNALBOX_TOKEN $HOME"'));
  expect(stdout.toString()).toBe(`${process.cwd()}\n7 ${process.env.HOME}\n`);
});

test("the command leads a process group of its own, in the guardian's session", async () => {
  const { stdout } = await runToEnd(
    buildShellCommand("read a b c parent group session rest </proc/$$/stat; echo $$ $group $session"),
  );
  const [pid, group, session] = stdout.toString().trim().split(" ");
  expect(group).toBe(pid);
  expect(session).not.toBe(pid);
});

test("what guardians allow themselves, the command does not inherit", async () => {
  const { stdout } = await runToEnd(buildShellCommand("nice; cat /proc/self/oom_score_adj"));
  const own = execFileSync("sh", ["-c", "nice; cat /proc/self/oom_score_adj"]);
  expect(stdout.toString()).toBe(own.toString());
});
