/** Runs that an agent serves, beside the same runs in a process of their own, on a real etcd. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestProcess } from "../../fixtures/cluster/process-group.ts";
import { TestCluster } from "../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../fixtures/cluster/test-namespace.ts";
import { FakeLauncher } from "../../fixtures/process/fake-launcher.ts";
import type { SignalboxOptions } from "../../fixtures/signalbox.ts";
import { createTestFolder } from "../../fixtures/test-folder.ts";
import { waitUntil } from "../../fixtures/wait-until.ts";
import { AGENT_REQUEST } from "../../src/core/process/agent-socket/wire.ts";

const cluster = TestCluster.startForFile();
let namespace: TestNamespace;
let agent: TestProcess;
const folder = createTestFolder(afterAll);
const socket = join(folder, "agent.sock");

const OUTPUT = { SIGNALBOX_OUTPUT_DIRECTORY: join(folder, "output") };

beforeAll(async () => {
  namespace = await cluster.createNamespace();
  agent = namespace.start(["agent", "--agent-socket", socket], {
    env: { SIGNALBOX_LOG_LEVEL: "info", ...OUTPUT },
  });
  await agent.waitForOutput("ready");
});

afterAll(() => namespace.close());

/** Executes `signalbox run ARGS` by the launcher. */
function launch(args: readonly string[], options: SignalboxOptions = {}) {
  const env = { SIGNALBOX_AGENT_SOCKET: socket, ...options.env };
  return namespace.execute(["run", ...args], { ...options, env, launcher: {} });
}

test("the agent writes the record of its host, without any run", async () => {
  await waitUntil("the host has a record", async () => {
    const { kvs } = await namespace.store.readRange(namespace.keys.hosts());
    return kvs.some(({ key }) => namespace.keys.parse(key).kind === "host");
  });
});

test.each([
  ["another prefix", [], { SIGNALBOX_PREFIX: "/other/" }, "prefix differs from that of the agent"],
  ["a relative path", ["--log-file", "x.log"], {}, '"x.log" is a path in the caller\'s directory'],
  ["more options than it parses", Array(600).fill("-v"), {}, "too many options and settings"],
  ["a setting that is too long", [], { ETCDCTL_X: "x".repeat(17_000) }, "too long ones"],
])(
  "a call that is not for this agent: %s: fails with always, and runs without the agent otherwise",
  async (_, options, env, reason) => {
    const words = [...options, "--lock", "a", "--", "sh", "-c", "exit 7"];
    const refused = await launch(["--agent", "always", ...words], { env, cwd: folder });
    expect(refused).toMatchObject({ code: 69, stderr: expect.stringContaining(reason) });
    expect(await launch(words, { env, cwd: folder })).toMatchObject({ code: 7 });
  },
);

test("a run that keeps its output does without the agent, which answers for the output afterwards", async () => {
  const words = ["--capture", "--lock", "kept", "--", "echo", "kept output"];
  const refused = await launch(["--agent", "always", ...words], { env: OUTPUT });
  expect(refused).toMatchObject({ code: 69, stderr: expect.stringContaining("--capture") });
  expect(await launch(["-v", ...words], { env: OUTPUT })).toMatchObject({
    code: 0,
    stdout: "kept output\n",
    stderr: expect.stringContaining("--capture"),
  });
  const elsewhere = { SIGNALBOX_OUTPUT_DIRECTORY: join(folder, "elsewhere") };
  const shown = await namespace.execute("logs kept", { env: elsewhere });
  expect(shown).toEqual({ code: 0, signal: null, stdout: "kept output\n", stderr: "" });
});

test("a call cannot order the agent to call hooks: it runs as any other", async () => {
  const hooks = { pid: agent.pid, files: [-1, -1], run: { host: "h" }, end: { code: 0 } };
  const settings = {
    ...namespace.env,
    SIGNALBOX_ENDPOINTS: cluster.endpoints.join(","),
    SIGNALBOX_HOOKS: JSON.stringify(hooks),
  };
  const path = join(folder, "hooked");
  const launcher = new FakeLauncher(socket);
  launcher.sendCall({
    words: ["run", "--lock", "h", "--on-success", `touch ${path}`, "--", "true"],
    settings: Object.entries(settings).map(([name, value]) => `${name}=${value}`),
  });
  await launcher.receive(AGENT_REQUEST.guard);
  expect(existsSync(path)).toBe(false);
  launcher.socket.destroy();
});

test("a call that is still served by a former connection is declined, and the former one goes on", async () => {
  const settings = Object.entries({ ...namespace.env, SIGNALBOX_ENDPOINTS: cluster.endpoints.join(",") });
  const call = {
    words: ["run", "--wait", "--lock", "d", "--", "true"],
    settings: settings.map(([name, value]) => `${name}=${value}`),
  };
  const holder = namespace.start("run --lock d -- sh -c 'echo holds; exec sleep 1000'");
  await holder.waitForOutput("holds");
  const [former, newer] = [new FakeLauncher(socket), new FakeLauncher(socket)];
  former.sendCall(call);
  const note = (await former.receive(AGENT_REQUEST.note)).block;
  newer.sendCall({ ...call, note, state: 1n, connectionNumber: 1n });
  expect(await newer.receiveDecline()).toMatch("former connection is still served");
  holder.child.kill("SIGTERM");
  await former.receive(AGENT_REQUEST.guard);
  former.socket.destroy();
});

describe("a served run", () => {
  test.each([
    ["a usage error", ["--no-such-flag", "--", "true"]],
    ["an error of the configuration", ["--ttl", "1s", "--", "true"]],
    ["the code of the command", ["--lock", "b", "--", "sh", "-c", "echo out; echo err >&2; exit 9"]],
    ["the signal of the command", ["--lock", "b", "--", "sh", "-c", "kill -USR1 $$"]],
    ["a command that is missing", ["--lock", "b", "--", "/no/such/command"]],
    ["a command that cannot be executed", ["--lock", "b", "--", "/etc/passwd"]],
    ["leases without a total", ["--lease", "nothing=1", "--", "true"]],
    ["a timeout", ["--lock", "b", "--timeout", "100ms", "--", "sleep", "60"]],
  ])("ends and prints as a run of its own: %s", async (_, words) => {
    const own = await namespace.execute(["run", ...words]);
    const served = await launch(["--agent", "always", ...words]);
    expect(omitOtherRuns(served)).toEqual(omitOtherRuns(own));
  });

  test("gives the command the environment, standard input and directory of its caller", async () => {
    const script =
      "cat; pwd; env | grep -v -e TOKEN= -e RUN= -e LOCK_KEY= -e TRACEPARENT= -e CGROUP= -e AGENT -e TEST_MARK= -e '^_=' | sort";
    const words = ["--lock", "c", "--", "sh", "-c", script];
    const options = { input: "text\n", cwd: "/usr", env: { SIGNALBOX_PASSWORD_FILE: "", WORD: "a b" } };
    const own = await namespace.execute(["run", ...words], options);
    const served = await launch(words, options);
    expect(omitOtherRuns(served)).toEqual(omitOtherRuns(own));
    expect(served.stdout).toMatch(/^text\n\/usr\n/);
    expect(served.stdout).toContain("\nWORD=a b\n");
  });
});

/** Returns a result without what its guardian did for other runs of this machine: tests beside this one abandon commands. */
function omitOtherRuns<R extends { stderr: string }>(result: R): R {
  return { ...result, stderr: result.stderr.replaceAll(/^.* none of its guardians is alive\n/gm, "") };
}
