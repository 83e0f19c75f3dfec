/** What a command gets from the caller besides the standard streams, in all ways in which a run can be started. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestCluster } from "../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../fixtures/cluster/test-namespace.ts";
import { findGuardians } from "../../fixtures/process/guarded-processes.ts";
import { killProcess } from "../../fixtures/process/marked-processes.ts";
import { putDueSchedule, waitForFile, waitForOutcomes } from "../../fixtures/schedule/due-schedules.ts";
import { createCleanEnv, type SignalboxOptions } from "../../fixtures/signalbox.ts";
import { createTestFolder } from "../../fixtures/test-folder.ts";
import { waitUntil } from "../../fixtures/wait-until.ts";
import { readProcess } from "../../src/core/process/guarded-command/processes.ts";

const cluster = TestCluster.startForFile();
let namespace: TestNamespace;
const folder = createTestFolder(afterAll);
const socket = join(folder, "agent.sock");

beforeAll(async () => {
  namespace = await cluster.createNamespace();
  const agent = namespace.start(["agent", "--agent-socket", socket], {
    env: { SIGNALBOX_LOG_LEVEL: "info" },
  });
  await agent.waitForOutput("ready");
});

afterAll(() => namespace.close());

interface Way {
  name: string;
  words: (lock: string, command: readonly string[]) => string[];
  env: Record<string, string>;
}

const run: Way["words"] = (lock, command) => ["run", "--lock", lock, "--", ...command];
const zooLocked: Way["words"] = (lock, command) => [
  "zoo-locked",
  cluster.endpoints.join(","),
  `/${lock}`,
  `exec ${command.map(quoteShell).join(" ")}`,
];
const quoteShell = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
const served = { SIGNALBOX_AGENT: "always", SIGNALBOX_AGENT_SOCKET: socket };
const alone = { SIGNALBOX_AGENT: "never" };
const WAYS: Way[] = [
  { name: "alone", words: run, env: alone },
  {
    name: "alone, with copies of the output",
    words: (lock, command) => ["run", "--capture", "--lock", lock, "--", ...command],
    env: alone,
  },
  { name: "with an agent", words: run, env: served },
  {
    name: "as cronlock",
    words: (_, command) => ["cronlock", ...command],
    env: { ...alone, CRONLOCK_GRACE: "0" },
  },
  { name: "as zoo-locked", words: zooLocked, env: alone },
  { name: "as zoo-locked with an agent", words: zooLocked, env: served },
];

/** Starts the launcher from bash, after `script` has prepared what it leaves to it. */
function startFrom(script: string, { name, words, env }: Way, command: string[]) {
  const output = { SIGNALBOX_OUTPUT_DIRECTORY: join(folder, "output") };
  const options: SignalboxOptions = {
    launcher: {},
    env: { ...env, ...output },
    before: ["bash", "-c", `${script}\nexec "$@"`, "bash"],
  };
  return namespace.start(words(name.replaceAll(/\W/g, "-"), command), options);
}

const execute = (...args: Parameters<typeof startFrom>) => startFrom(...args).ended;

/** Prints what a program inherits besides descriptors, as the kernel shows it. */
const SHOW_STATE = [
  "sh",
  "-c",
  `cat /proc/self/limits /proc/self/oom_score_adj /proc/self/coredump_filter
grep -E '^(Umask|Groups|Sig(Ign|Blk|Cgt)|Cap|NoNewPrivs|Seccomp|Cpus_allowed|Mems_allowed|CoreDumping|THP)' /proc/self/status
nice; pwd; grep flags /proc/self/fdinfo/0`,
];

describe.each(WAYS)("$name", (way) => {
  test.each([
    ["of its caller", "exec 3<<<three 4<<<four 63<<<63 200<<<200", "cat <&4; cat <&3; cat <&63; cat <&200;"],
    ["that its caller has none of", "exec 3<&- 4<&- 5<&-", ""],
  ])("the command has the descriptors %s, and no others", async (_, script, reads) => {
    // 3 and 4 are where a guardian of Node's has its own; 200 is above what Node closes by itself.
    const command = ["bash", "-c", `${reads} exec ls /proc/self/fd`];
    const direct = spawnSync("bash", ["-c", `${script}\nexec "$@"`, "bash", ...command], { input: "" });
    expect(direct.status).toBe(0);
    expect(await execute(script, way, command)).toMatchObject({ code: 0, stdout: String(direct.stdout) });
  });

  test("the command runs although its caller has a descriptor above its limit", async () => {
    const end = await execute("exec 200<<<200; ulimit -n 100", way, ["echo", "done"]);
    expect(end).toMatchObject({ code: 0, stdout: "done\n", stderr: "" });
  });

  test("no guardian keeps a descriptor of the caller open", async () => {
    const running = startFrom("exec 57<<<x", way, ["bash", "-c", "echo up; exec sleep 1000"]);
    await running.waitForOutput("up");
    const guardians = Object.values(findGuardians(running.mark, running.pid));
    const listOpen = () =>
      guardians.flatMap((pid) => readdirSync(`/proc/${pid}/fd`)).filter((fd) => fd === "57");
    await waitUntil("they have closed it", () => listOpen().length === 0);
    killProcess(running.pid, "SIGTERM");
    await running.ended;
  });

  test("sockets that systemd passes on belong to the command", async () => {
    const script = "exec 3<<<socket; export LISTEN_FDS=1 LISTEN_PIDFDID=1 LISTEN_PID=$$";
    const command = ["bash", "-c", "echo $((LISTEN_PID == $$)) $LISTEN_FDS $LISTEN_PIDFDID; cat <&3"];
    expect((await execute(script, way, command)).stdout).toBe("1 1\nsocket\n");
  });

  test("nothing of this is in the environment of the command", async () => {
    const { stdout } = await execute("exec 5<<<x; trap '' HUP", way, ["env"]);
    expect(stdout).not.toContain("SIGNALBOX_INHERITED");
  });

  test("a signal that the caller ignores stays ignored, for the run too", async () => {
    const running = startFrom("trap '' HUP USR1 PIPE", way, [
      "bash",
      "-c",
      "grep SigIgn /proc/$$/status; echo up; sleep 0.5; exit 3",
    ]);
    await running.waitForOutput("up");
    expect(Number.parseInt(/SigIgn:\s*(\w+)/.exec(running.output.stdout)?.[1] ?? "", 16) & 0x1201).toBe(
      0x1201,
    );
    killProcess(running.pid, "SIGHUP");
    killProcess(running.pid, "SIGUSR1");
    expect(await running.ended).toMatchObject({ code: 3, signal: null });
  });

  test.each([
    ["blocks", ""],
    ["does not block", "fcntl($_, F_SETFL, O_RDWR | O_NONBLOCK) for *STDIN, *STDOUT;"],
  ])(
    "the command has the limits, the umask, the priority and the signals of its caller; its standard input %s, and standard output afterwards",
    async (_, streams) => {
      const script = `ulimit -Sn 200; ulimit -Sc 7; umask 027; trap '' HUP; exec nice -n 1 perl -e 'use Fcntl; ${streams} system @ARGV; printf "%o", fcntl(STDOUT, F_GETFL, 0)' "$@"`;
      const direct = spawnSync("bash", ["-c", script, "bash", ...SHOW_STATE], {
        encoding: "utf8",
        input: "",
      });
      expect(direct.status).toBe(0);
      expect(await execute(script, way, SHOW_STATE)).toMatchObject({ code: 0, stdout: direct.stdout });
    },
  );

  test("the command has the variables for Node of its caller, and signalbox has not", async () => {
    const variables = {
      NODE_OPTIONS: "--inspect=127.0.0.1:0 --require=/nowhere.cjs",
      NODE_DEBUG: "net",
      NODE_PATH: "/x",
    };
    const assignments = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
    const end = await execute(`export ${assignments.join(" ")}`, way, [
      "sh",
      "-c",
      "env | grep -a NODE_ | sort",
    ]);
    const expected = spawnSync("sh", ["-c", "env | grep NODE_ | sort"], {
      env: { ...createCleanEnv(), ...variables },
      encoding: "utf8",
    });
    expect(end).toMatchObject({ code: 0, stdout: expected.stdout, stderr: "" });
  });

  test("a stop by the terminal stops run and command until both are continued; a new size of it is passed on", async () => {
    // A parent in another process group makes a stop possible, as a shell with job control does. (That of bash, `wait -f`, can
    // print without end while a job is stopped.)
    const parent =
      '$| = 1; my $run = fork; if (!$run) { setpgrp; exec @ARGV } print "run $run\\n"; waitpid $run, 0; print "ended ", $? >> 8, "\\n"';
    const script = `exec perl -e '${parent}' "$@"`;
    const command = "echo command $$; trap 'echo size' WINCH; until [ -e $OUT ]; do sleep 0.05; done; exit 4";
    const out = join(folder, `out-${way.name.replaceAll(/\W/g, "-")}`);
    const shell = startFrom(`export OUT=${out}; ${script}`, way, ["bash", "-c", command]);
    await shell.waitForOutput(/command \d+/);
    const pids = ["run", "command"].map((name) =>
      Number(new RegExp(`^${name} (\\d+)`, "m").exec(shell.output.stdout)?.[1]),
    );
    const [run = 0] = pids;
    const areStopped = (expected: boolean) => pids.every((pid) => readProcess(pid)?.isStopped === expected);
    for (const round of [1, 2]) {
      killProcess(run, "SIGTSTP");
      await waitUntil(`stopped ${round}`, () => areStopped(true), { ms: 20_000 });
      killProcess(run, "SIGCONT");
      await waitUntil(`continued ${round}`, () => areStopped(false), { ms: 20_000 });
    }
    killProcess(run, "SIGWINCH");
    await shell.waitForOutput("size");
    writeFileSync(out, "");
    expect((await shell.ended).stdout).toMatch(/^ended 4$/m);
  });
});

describe("what else is started has the limits and the variables of the caller", () => {
  const show = "ulimit -Sn; ulimit -Sc; echo $NODE_OPTIONS $SIGNALBOX_CALLER_NODE_OPTIONS";
  const prepare = ["bash", "-c", 'ulimit -Sn 200; ulimit -Sc 7; exec "$@"', "bash"];
  const options = { launcher: {}, before: prepare, env: { ...alone, NODE_OPTIONS: "--no-deprecation" } };
  const expected = "200\n7\n--no-deprecation\n";
  const writeProgram = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o755 });
    return path;
  };

  test("tasks, modules and hooks of a worker", async () => {
    const called = join(folder, "called");
    const text = `process.on("SIGUSR1", () => console.log("got it"));
      export default async () => {
        console.log(process.execArgv.join(), process.env.NODE_OPTIONS);
        setTimeout(() => process.kill(process.pid, "SIGUSR1"));
        const alive = setInterval(() => {}, 1000);
        await new Promise((resolve) => process.once("SIGUSR1", resolve));
        clearInterval(alive);
      };`;
    const handlers = [{ type: "m", module: writeProgram("module.mjs", text) }];
    const hooks = { success: ["bash", "-c", `(${show}) >${called}.new; mv ${called}.new ${called}`] };
    const file = writeProgram("worker.json", JSON.stringify({ commands: true, handlers, hooks }));
    const worker = namespace.start(["worker", "--handlers", file], options);
    await putDueSchedule(namespace, "task", { command: ["bash", "-c", show] });
    expect(await waitForOutcomes(namespace, "task")).toMatchObject([{ tail: expected.trim() }]);
    await waitForFile(called);
    expect(readFileSync(called, "utf8")).toBe(expected);
    await putDueSchedule(namespace, "m", { type: "m" });
    expect(await waitForOutcomes(namespace, "m")).toMatchObject([
      { result: "ok", tail: "--disable-sigusr1 --no-deprecation\ngot it" },
    ]);
    await worker.end();
  });

  test("but signalbox itself may write no core dump", async () => {
    const running = startFrom("ulimit -Sc unlimited", { name: "core", words: run, env: alone }, [
      "sh",
      "-c",
      "echo up; exec sleep 1000",
    ]);
    await running.waitForOutput("up");
    expect(readFileSync(`/proc/${running.pid}/limits`, "utf8")).toMatch(/^Max core file size +1 /m);
    await running.end();
  });

  test("an editor", async () => {
    const shown = join(folder, "shown");
    const editor = writeProgram("editor", `#!/bin/bash\n(${show}) >${shown}\n`);
    await namespace.expectDone("schedule add edited @daily -- x");
    const env = { ...options.env, EDITOR: editor, VISUAL: "" };
    await namespace.start("schedule edit edited --yes", { ...options, env }).ended;
    expect(readFileSync(shown, "utf8")).toBe(expected);
  });
});

const hasMake = spawnSync("make", ["--version"]).status === 0;
test.skipIf(!hasMake).each([
  ["alone", alone],
  ["with an agent", served],
])("%s: a make below make has its jobserver", async (_, env) => {
  const [outer, inner] = [join(folder, "outer.mk"), join(folder, "inner.mk")];
  writeFileSync(outer, "all:\n\t+$(RUN)\n");
  writeFileSync(inner, "all: a b\na b:\n\t@echo made $@\n");
  const options = { launcher: {}, env, before: ["bash", "-c", `RUN="$*" exec make -j2 -f ${outer}`, "bash"] };
  const words = ["run", "--lock", "make", "--", "make", "-f", inner];
  const { stdout, stderr, code } = await namespace.execute(words, options);
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 }); // make warns when it cannot use the jobserver
  expect(stdout).toMatch(/made [ab]\nmade [ab]/);
});

describe("--foreground", () => {
  const command = ["sh", "-c", "echo opened >/dev/tty; read line </dev/tty; echo got $line; exit 6"];

  test("the command may use the terminal of its caller", async () => {
    const options = { launcher: {}, env: alone, terminal: { columns: 80, rows: 24 } };
    const running = namespace.start(["run", "--foreground", "--lock", "terminal", "--", ...command], options);
    await running.waitForOutput("opened");
    running.child.stdin?.write("text\n");
    const { code, stdout } = await running.ended;
    expect({ code, stdout }).toEqual({ code: 6, stdout: expect.stringContaining("got text") });
  });

  const startForeground = (name: string, script: string) => {
    const words: Way["words"] = (lock, command) => ["run", "--foreground", "--lock", lock, "--", ...command];
    return startFrom("", { name, words, env: alone }, ["bash", "-c", script]);
  };

  test("a signal to the run reaches the command, and its end is noticed", async () => {
    const running = startForeground("signal", "trap 'exit 9' TERM; echo up; while :; do sleep 0.05; done");
    await running.waitForOutput("up");
    killProcess(running.pid, "SIGTERM");
    expect(await running.ended).toExit(9);
  });

  test.each([
    ["the run", ({ pid }: { pid: number }) => [pid]],
    [
      "its guardians",
      ({ mark, pid }: { mark: string; pid: number }) => Object.values(findGuardians(mark, pid)),
    ],
  ])(
    "when %s is killed, the command and what it left in another session are killed",
    async (name, choose) => {
      const script = "setsid sleep 1000 & echo pids $! $$; while :; do sleep 0.05; done";
      const running = startForeground(name, script);
      await running.waitForOutput(/pids \d+ \d+/);
      const [, ...pids] = /pids (\d+) (\d+)/.exec(running.output.stdout) ?? [];
      for (const pid of choose(running)) killProcess(pid, "SIGKILL");
      await running.ended;
      const isAlive = (pid: string) => readProcess(Number(pid))?.isDead === false;
      await waitUntil("all dead", () => !pids.some(isAlive), { ms: 20_000 });
    },
  );

  test("an agent leaves it to a run of its own", async () => {
    const words = ["run", "--foreground", "--lock", "terminal", "--", "true"];
    expect(await namespace.execute(words, { launcher: {}, env: served })).toMatchObject({
      code: 69,
      stderr: expect.stringContaining("--foreground"),
    });
    const auto = { ...served, SIGNALBOX_AGENT: "auto" };
    expect(await namespace.execute(words, { launcher: {}, env: auto })).toMatchObject({ code: 0 });
  });
});
