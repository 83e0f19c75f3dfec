/** `agent: start`: a run that finds no agent starts one for its user, which serves the next runs. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { getPriority } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { startCollector } from "../../../fixtures/collector.ts";
import { killProcess } from "../../../fixtures/process/marked-processes.ts";
import { BUNDLE, LAUNCHER, type ProcessResult } from "../../../fixtures/signalbox.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { hasLimits } from "../../../src/cli/commands/run/start-agent.impl.ts";
import { thisMachine } from "../../../src/core/config/machine.ts";
import { readHostFacts } from "../../../src/core/fleet/host.ts";

const cluster = TestCluster.startForFile();
const isRoot = process.getuid?.() === 0;
/** A user that is nobody else's: its folder is in /tmp. */
const USER = 2_000_000 + process.pid;
const OTHER = USER + 1_000_000_000;
const PLACE = `/tmp/signalbox-${USER}`;
const asUser = (user: number) => ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"];

function createReadableFolder() {
  const folder = createTestFolder();
  chmodSync(folder, 0o755);
  return folder;
}

beforeEach(({ skip }) => {
  if (hasLimits(readHostFacts(thisMachine)))
    skip("with limits, as on a slow machine, no run starts an agent");
  if (getPriority() > 0) skip("with a low priority (nice), no run starts an agent");
});

/** Lines of a crontab, on a host where nothing was set up for signalbox. */
class Crontab {
  readonly namespace: TestNamespace;
  readonly env: Record<string, string>;
  readonly #as: readonly string[];

  /** @param user  who is asked for nothing else than to be the one of cron; undefined: this process */
  constructor(user?: number, env: Record<string, string> = {}) {
    this.namespace = cluster.createNamespace();
    const { SIGNALBOX_PREFIX, SIGNALBOX_CONNECT_TIMEOUT, SIGNALBOX_TTL } = this.namespace.env;
    this.#as = user === undefined ? [] : asUser(user);
    const home = createReadableFolder();
    this.env = {
      HOME: home, // a user cannot write to it
      ...(user === undefined && { XDG_STATE_HOME: home }), // root would remember the cluster in /var/lib, for all tests
      LOGNAME: "job",
      PATH: "/usr/bin:/bin",
      SHELL: "/bin/sh",
      SIGNALBOX_ENDPOINTS: cluster.endpoints.join(","),
      ...({ SIGNALBOX_PREFIX, SIGNALBOX_CONNECT_TIMEOUT, SIGNALBOX_TTL } as Record<string, string>),
      ...env,
    };
  }

  /** With a socket at a place of its own. */
  static createWithSocket(env: Record<string, string> = {}) {
    const socket = join(createTestFolder(), "agent.sock");
    onTestFinished(() => killAgents(socket));
    return Object.assign(new Crontab(undefined, { SIGNALBOX_AGENT_SOCKET: socket, ...env }), { socket });
  }

  /** Starts `signalbox run --agent start OPTIONS -- COMMAND`. */
  start(options: string, command: readonly string[], { before = [] as string[], launcher = LAUNCHER } = {}) {
    const words = ["run", "--agent", "start", ...options.split(" "), "--", ...command];
    const [file = "", ...rest] = [...before, ...this.#as, launcher, ...words];
    const child = spawn(file, rest, { env: this.env, cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
    return { child, ended: readEnd(child) };
  }

  run(options: string, how: Parameters<Crontab["start"]>[2] = {}): Promise<ProcessResult> {
    return this.start(options, ["echo", "done"], how).ended;
  }

  /** The same by a launcher that has no Node to fall back to. */
  runWithoutNode(options: string): Promise<ProcessResult> {
    const launcher = join(createReadableFolder(), "launcher");
    cpSync(LAUNCHER, launcher);
    return this.run(options, { launcher });
  }
}

async function readEnd(child: ChildProcess): Promise<ProcessResult> {
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  const [code, signal] = await once(child, "close");
  return { code, signal, ...output };
}

/** Lists the agents of a socket and their keepers. They have no mark of the test: little of their run's environment is passed on. */
function listProcesses(socket: string): { pid: number; name: string; session: number; parent: number }[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(`--agent-socket\0${socket}\0`)) return [];
      const [, name = "", rest = ""] =
        /^\d+ \((.*)\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? [];
      const [, parent, , session] = rest.split(" ");
      return [{ pid: Number(pid), name, parent: Number(parent), session: Number(session) }];
    } catch {
      return []; // it has ended
    }
  });
}

const listAgents = (socket: string) => listProcesses(socket).filter(({ name }) => name !== "launcher");

function killAgents(socket: string) {
  for (const { pid } of listProcesses(socket)) killProcess(pid, "SIGKILL");
}

const waitForAgent = (socket: string) =>
  waitUntil("the agent", () => existsSync(socket) && listAgents(socket)[0]);

describe.runIf(isRoot)("a user of cron", () => {
  /** Removes what is at the user's place, and ends its agents, before and after a test. */
  function clearPlace() {
    const socket = `${PLACE}/agent.sock`;
    const clear = () => {
      killAgents(socket);
      rmSync(PLACE, { recursive: true, force: true });
    };
    clear();
    onTestFinished(clear);
    return socket;
  }

  test("the second run is served, by an agent that is no part of the first", async () => {
    const socket = clearPlace();
    const crontab = new Crontab(USER);
    expect(await crontab.run("--lock x")).toPrint("done\n");
    const agent = await waitForAgent(socket);
    expect(agent.session).toBe(agent.parent); // its keeper
    expect(lstatSync(PLACE)).toMatchObject({ uid: USER, mode: 0o40700 });
    expect(await crontab.runWithoutNode("--lock x")).toPrint("done\n");
    expect(listAgents(socket)).toHaveLength(1);
  });

  test("a login session without an agent uses that of cron; a socket on which nobody listens does not matter", async () => {
    const socket = clearPlace();
    const crontab = new Crontab(USER);
    await crontab.run("--lock x");
    await waitForAgent(socket);
    const runtime = createReadableFolder();
    crontab.env.XDG_RUNTIME_DIR = runtime;
    expect(await crontab.runWithoutNode("--lock x")).toPrint("done\n");
    const stale = createServer().listen(join(runtime, "bound"));
    await once(stale, "listening");
    mkdirSync(join(runtime, "signalbox"));
    renameSync(join(runtime, "bound"), join(runtime, "signalbox/agent.sock")); // Node removes only the name that it knows
    stale.close();
    expect(await crontab.runWithoutNode("--lock x")).toPrint("done\n");
  });

  test("an agent is started in the folder of a login session", async () => {
    clearPlace();
    const runtime = createTestFolder();
    chownSync(runtime, USER, USER);
    const socket = join(runtime, "signalbox/agent.sock");
    onTestFinished(() => killAgents(socket));
    const crontab = new Crontab(USER, { XDG_RUNTIME_DIR: runtime });
    expect(await crontab.run("--lock x")).toPrint("done\n");
    await waitForAgent(socket);
    expect(await crontab.runWithoutNode("--lock x")).toPrint("done\n");
    expect(existsSync(PLACE)).toBe(false);
  });

  test.each([
    [
      "a folder of another user",
      () => {
        mkdirSync(PLACE, { mode: 0o755 });
        chownSync(PLACE, OTHER, OTHER);
      },
    ],
    [
      "a link of another user to a folder of this one",
      () => {
        const target = createTestFolder();
        chownSync(target, USER, USER);
        symlinkSync(target, PLACE);
        lchownSync(PLACE, OTHER, OTHER);
      },
    ],
    [
      "a folder in which others may write",
      () => {
        mkdirSync(PLACE);
        chmodSync(PLACE, 0o777);
        chownSync(PLACE, USER, USER);
      },
    ],
  ])("%s is not used", async (_, prepare) => {
    const socket = clearPlace();
    prepare();
    let connections = 0;
    const server = createServer(() => {
      connections += 1;
    }).listen(socket);
    await once(server, "listening");
    chmodSync(socket, 0o777);
    onTestFinished(() => void server.close());
    const crontab = new Crontab(USER);
    expect(await crontab.run("--lock x")).toPrint("done\n");
    const verbose = await crontab.run("-v --lock x");
    expect(verbose).toExit(0, { stderr: "no agent is started why=" });
    expect(await crontab.run("--agent always --lock x")).toExit(77);
    expect([connections, listAgents(socket)]).toEqual([0, []]);
  });

  test("without a place that can be written to, runs go without an agent and say nothing", async () => {
    const socket = clearPlace();
    const crontab = new Crontab(USER, { HOME: "/proc" });
    const hide = 'mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp && exec "$@"';
    const before = ["unshare", "--mount", "sh", "-c", hide, "sh"];
    expect(await crontab.run("--lock x", { before })).toPrint("done\n");
    expect(existsSync(socket)).toBe(false);
  });

  test.each([
    ["this run has a low priority (nice)", ["nice"]],
    ["this run has limits (cgroup, taskset, ulimit)", ["prlimit", "--cpu=60"]],
    ["this run has limits (cgroup, taskset, ulimit)", ["prlimit", "--nofile=100"]],
    ["this run has limits (cgroup, taskset, ulimit)", ["prlimit", "--fsize=100000"]],
    ["this run has limits (cgroup, taskset, ulimit)", ["prlimit", "--data=10000000000"]],
    ["this run is a part of a unit of systemd, and ends with it", ["env", "INVOCATION_ID=1"]],
    ["this run is a part of another run, and ends with it", ["env", "SIGNALBOX_RUN=1"]],
    [
      "this run is the main process of a container, and ends it",
      ["unshare", "--pid", "--fork", "--mount-proc"],
    ],
  ])("an agent would suffer: %s", async (why, before) => {
    const socket = clearPlace();
    const crontab = new Crontab(USER);
    expect((await crontab.run("-v --lock x", { before })).stderr).toContain(why);
    expect(await crontab.run("--lock x", { before })).toPrint("done\n");
    expect(existsSync(socket)).toBe(false);
  });

  test("a setuid run does not take the place of the user who has started it", async () => {
    clearPlace();
    const before = ["setpriv", `--ruid=${USER}`, `--euid=${OTHER}`, "--clear-groups"];
    const run = await new Crontab().run("-v --lock x", { before });
    expect(run).toExit(0, { stderr: "this run is setuid" });
    expect(existsSync(PLACE)).toBe(false);
  });

  test("the umask of the run does not matter", async () => {
    const socket = clearPlace();
    const crontab = new Crontab(USER);
    const before = ["sh", "-c", 'umask 777; exec "$@"', "sh"];
    expect(await crontab.run("--lock x", { before })).toPrint("done\n");
    await waitForAgent(socket);
    expect(await crontab.runWithoutNode("--lock x")).toPrint("done\n");
    expect(["", "/agent.key"].map((name) => lstatSync(PLACE + name).mode & 0o777)).toEqual([0o700, 0o600]);
  });
});

test("many runs at one instant start one agent", async () => {
  const crontab = Crontab.createWithSocket();
  const runs = Array.from({ length: 8 }, (_, at) => crontab.run(`--lock x${at}`));
  for (const end of await Promise.all(runs)) expect(end).toPrint("done\n");
  await waitForAgent(crontab.socket);
  expect(await crontab.runWithoutNode("--lock x")).toPrint("done\n");
  expect(listAgents(crontab.socket)).toHaveLength(1);
});

test("of two agents that start at one instant, one stays", async () => {
  const { socket, env } = Crontab.createWithSocket();
  const words = ["agent", "--agent-socket", socket, "--idle-timeout", "10m"];
  const agents = [1, 2].map(() => spawn(LAUNCHER, words, { env, stdio: ["ignore", "ignore", "pipe"] }));
  const [first] = await Promise.race(agents.map(async (agent) => [await readEnd(agent)]));
  expect(first).toExit(78, { stderr: "another agent listens" });
  await waitUntil("one agent", () => existsSync(socket) && listAgents(socket).length === 1);
});

test("an agent keeps no lock, output or variable of the run that has started it", async () => {
  const crontab = Crontab.createWithSocket({ SECRET_OF_JOB: "1" });
  const file = join(createTestFolder(), "lock");
  const hold = `exec 9>${file} 200>&9; flock 9; exec "$@"`;
  // the end of the run includes that of its output
  expect(await crontab.run("--lock x", { before: ["bash", "-c", hold, "bash"] })).toPrint("done\n");
  const { pid } = await waitForAgent(crontab.socket);
  expect(await readEnd(spawn("flock", ["-n", file, "true"], { stdio: "pipe" }))).toExit(0);
  expect(readFileSync(`/proc/${pid}/environ`, "latin1")).not.toContain("SECRET_OF_JOB");
});

test("an agent sends the spans of its runs to the collector of the run that has started it", async () => {
  const { url, spans } = await startCollector();
  const crontab = Crontab.createWithSocket({
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_BSP_SCHEDULE_DELAY: "50",
  });
  expect(await crontab.run("--lock first")).toPrint("done\n");
  await waitForAgent(crontab.socket);
  expect(await crontab.runWithoutNode("--lock second")).toPrint("done\n");
  await waitUntil("the spans", () => JSON.stringify(spans).includes("second"));
});

describe("a command of an agent that is killed goes on", () => {
  async function startJob() {
    const crontab = Crontab.createWithSocket();
    await crontab.run("--lock x");
    await waitForAgent(crontab.socket);
    const [up, go] = [cluster.createPath(), cluster.createPath()];
    const job = ["sh", "-c", `touch ${up}; until [ -e ${go} ]; do sleep 0.05; done; exit 3`];
    const held = crontab.start("--lock held", job);
    await waitUntil("the job", () => existsSync(up));
    return { crontab, held, go };
  }

  async function finishJob({ crontab, held, go }: Awaited<ReturnType<typeof startJob>>) {
    await waitUntil("service", async () => (await crontab.runWithoutNode("--lock x")).code === 0);
    writeFileSync(go, "");
    expect(await held.ended).toExit(3, { stderr: "" });
    expect(await crontab.namespace.listTickets()).toEqual([]);
  }

  test("its keeper starts it again", async () => {
    const job = await startJob();
    const [former] = listAgents(job.crontab.socket);
    killProcess(former?.pid, "SIGKILL");
    await waitUntil("another agent", () => {
      const [agent] = listAgents(job.crontab.socket);
      return agent !== undefined && agent.pid !== former?.pid;
    });
    await finishJob(job);
  });

  test("without its keeper, the next run starts another", async () => {
    const job = await startJob();
    const { socket } = job.crontab;
    killAgents(socket);
    await waitUntil("their end", () => listProcesses(socket).length === 0);
    utimesSync(`${socket}.start`, 0, 0); // the first start was long ago
    expect(await job.crontab.run("--lock y")).toPrint("done\n");
    await finishJob(job);
  });
});

test("an agent with other settings does not serve the run, and stays the only one", async () => {
  const crontab = Crontab.createWithSocket();
  await crontab.run("--lock x");
  await waitForAgent(crontab.socket);
  const other = await crontab.run("-v --prefix /elsewhere/ --lock x");
  expect(other).toExit(0, { stderr: "its prefix differs from that of the agent" });
  expect(listAgents(crontab.socket)).toHaveLength(1);
});

test("the setting can be in a file, which the launcher does not read", async () => {
  const crontab = Crontab.createWithSocket();
  const config = join(createTestFolder(), "config.json");
  writeFileSync(config, JSON.stringify({ agent: "start" }));
  const env = { ...crontab.env, SIGNALBOX_CONFIG: config };
  const run = spawn(LAUNCHER, ["run", "--lock", "x", "--", "true"], { env, stdio: "pipe" });
  expect(await readEnd(run)).toExit(0, { stderr: "" });
  await waitForAgent(crontab.socket);
  expect(await crontab.runWithoutNode("--lock x")).toPrint("done\n");
});

test("flags of the connection are those of the agent too", async () => {
  const crontab = Crontab.createWithSocket({ SIGNALBOX_ENDPOINTS: "http://127.0.0.1:1" });
  const line = `--endpoints ${cluster.endpoints.join(",")} --prefix /flags/ --lock x`;
  expect(await crontab.run(line)).toPrint("done\n");
  await waitForAgent(crontab.socket);
  expect(await crontab.runWithoutNode(line)).toPrint("done\n");
});

test.each([
  ["--capture", "no agent serves --capture"],
  ["--foreground", "no agent serves --foreground"],
  ["--log-file run.log", '"run.log" is a path in the current directory'],
])("nothing is started for a run with %s, which no agent serves", async (option, why) => {
  const crontab = Crontab.createWithSocket({ SIGNALBOX_LOG_LEVEL: "info" });
  const { stderr } = await crontab.run(`${option} --lock x`);
  if (!option.startsWith("--log-file")) expect(stderr).toContain(why); // there, the log is not on stderr
  expect([existsSync(crontab.socket), listAgents(crontab.socket)]).toEqual([false, []]);
});

describe("an agent with --idle-timeout", () => {
  /** Long enough for the run, which waits for the socket by itself, to reach the agent on a busy machine. */
  const IDLE_MS = 2_000;

  /** Starts an agent, and a run that it serves until the file `go` is there. @param launcher  of the agent */
  async function startServing(launcher: string) {
    const { socket, env, ...crontab } = Crontab.createWithSocket();
    const go = cluster.createPath();
    const words = [LAUNCHER, "run", "--agent", "always", "--lock", "x", "--", "sh", "-c"];
    const job = spawn(
      "sh",
      [
        "-c",
        `until [ -S ${socket} ]; do sleep 0.01; done; exec "$@"`,
        "sh",
        ...words,
        `until [ -e ${go} ]; do sleep 0.05; done`,
      ],
      { env, stdio: "pipe" },
    );
    onTestFinished(() => void job.kill("SIGKILL"));
    const done = readEnd(job);
    const agent = spawn(launcher, ["agent", "--agent-socket", socket, "--idle-timeout", `${IDLE_MS}ms`], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const ended = readEnd(agent);
    const refused = done.then(({ code, stderr }) => expect.fail(`the run ended with ${code}: ${stderr}`));
    const ticket = waitUntil("a ticket", async () => (await crontab.namespace.listTickets()).length > 0);
    await Promise.race([ticket, refused]);
    return { socket, agent, ended, go, done };
  }

  test("ends when it has served nothing for that long, not while a run goes on", async () => {
    const { socket, ended, go, done } = await startServing(LAUNCHER);
    const longer = new Promise((resolve) => setTimeout(resolve, 3 * IDLE_MS, "serves"));
    expect(await Promise.race([ended, longer])).toBe("serves");
    writeFileSync(go, "");
    expect(await done).toExit(0);
    expect(await ended).toExit(0, { stderr: "no longer needed" });
    expect(existsSync(socket)).toBe(false);
  });

  test("ends when its program is replaced, after the runs that it serves", async () => {
    const dist = join(createTestFolder(), "dist");
    cpSync(dirname(BUNDLE), dist, { recursive: true });
    const { socket, agent, ended, go, done } = await startServing(
      join(dist, "native", process.arch, "launcher"),
    );
    utimesSync(join(dist, "agent.cjs"), 1, 1);
    await waitUntil("its retirement", () => !existsSync(socket));
    expect(agent.exitCode).toBeNull();
    writeFileSync(go, "");
    expect(await done).toExit(0, { stderr: "" });
    expect(await ended).toExit(0);
  });
});
