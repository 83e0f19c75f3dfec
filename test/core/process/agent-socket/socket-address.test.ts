import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import {
  createFolder,
  createSocketPath,
  listenOn,
  openListener,
} from "../../../../fixtures/process/agent-socket.ts";
import { FakeLauncher } from "../../../../fixtures/process/fake-launcher.ts";
import { isRoot } from "../../../../fixtures/process/guarded-processes.ts";
import { ConfigError } from "../../../../src/core/base/errors.ts";
import { takeInheritedSocket } from "../../../../src/core/process/agent-socket/listening-socket.ts";
import { AGENT_REQUEST } from "../../../../src/core/process/agent-socket/wire.ts";

/** Starts a listener, which declines each call with this reason. */
function startListener(path: string, reason = "enough") {
  return openListener(
    { path },
    {
      onCall: (call) => call.decline(reason),
      onFault: (error) => {
        throw error;
      },
    },
  );
}

async function expectDecline(path: string, reason: string) {
  const launcher = new FakeLauncher(path);
  launcher.sendCall();
  expect(await launcher.receiveDecline()).toBe(reason);
}

/** Leaves the socket of a process that was killed. */
async function leaveSocket(path: string) {
  const script = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 9))`;
  await once(spawn(process.execPath, ["-e", script], { stdio: "inherit" }), "exit");
  expect(lstatSync(path).isSocket()).toBe(true);
}

test("the directory is created for this user, and the socket is for everybody", async () => {
  const path = join(createFolder(), "run/signalbox/agent.sock");
  const before = process.umask(0o027);
  onTestFinished(() => void process.umask(before));
  await startListener(path);
  process.umask(before);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o755);
  expect(statSync(path).mode & 0o777).toBe(0o666);
});

test("an agent whose socket was deleted and replaced does not remove its successor's", async () => {
  const path = createSocketPath();
  const former = await startListener(path);
  rmSync(path);
  await startListener(path, "the next one");
  former.close();
  expect(readdirSync(dirname(path))).toEqual(["agent.sock"]);
  await expectDecline(path, "the next one");
});

test("the socket of an agent that has ended is replaced; nothing is left of it", async () => {
  const path = createSocketPath();
  await leaveSocket(path);
  await startListener(path, "listens");
  await expectDecline(path, "listens");
  expect(readdirSync(dirname(path))).toEqual(["agent.sock"]);
});

test("a socket on which another agent listens stays", async () => {
  const path = createSocketPath();
  await startListener(path, "the first");
  await expect(startListener(path)).rejects.toThrow(/another agent listens on .*agent\.sock/);
  await expectDecline(path, "the first");
});

test.each([true, false])(
  "a socket to which this user may not connect stays, and the error says so (somebody listens: %s)",
  async (listens) => {
    const path = createSocketPath();
    if (listens) await startListener(path);
    else await leaveSocket(path);
    chmodSync(path, 0);
    const script = `
    import { isAnswered } from "${import.meta.dirname}/../../../../src/core/process/agent-socket/listening-socket.ts";
    await isAnswered(${JSON.stringify(path)}).catch(({ name, message }) => console.log(name + ": " + message));
  `;
    const become = isRoot ? ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"] : [];
    const [program = "", ...words] = [...become, process.execPath, "--input-type=module", "-e", script];
    const { stdout } = spawnSync(program, words, { encoding: "utf8" });
    expect(stdout).toMatch(
      /^ConfigError: this user may not connect to .*agent\.sock; remove it if no agent listens there/,
    );
    expect(lstatSync(path).isSocket()).toBe(true);
  },
);

test("a socket that its agent removes while it is tried is no reason not to listen", async () => {
  const path = createSocketPath();
  await leaveSocket(path);
  const opening = startListener(path);
  rmSync(path); // the attempt to connect has not begun
  await opening;
  expect(readdirSync(dirname(path))).toEqual(["agent.sock"]);
});

test("a path that is not a socket stays", async () => {
  const path = createSocketPath();
  writeFileSync(path, "precious");
  await expect(startListener(path)).rejects.toThrow("it is not a socket");
  expect(lstatSync(path).isFile()).toBe(true);
});

test.each([0o777, 0o775, 0o1777])(
  "a directory of mode %o is refused: others can write to it",
  async (mode) => {
    const folder = join(createFolder(), "shared");
    mkdirSync(folder);
    chmodSync(folder, mode);
    const opening = startListener(join(folder, "agent.sock"));
    await expect(opening).rejects.toThrow(ConfigError);
    await expect(opening).rejects.toThrow("other users can write to it");
    expect(readdirSync(folder)).toEqual([]);
  },
);

test.runIf(isRoot)("the directory of another user is refused", async () => {
  const folder = join(createFolder(), "foreign");
  mkdirSync(folder, { mode: 0o755 });
  chownSync(folder, 12_345, 12_345);
  const opening = startListener(join(folder, "agent.sock"));
  await expect(opening).rejects.toThrow("it belongs to user 12345");
});

test("a directory that cannot be created is an error of the configuration", async () => {
  const file = join(createFolder(), "file");
  writeFileSync(file, "");
  const opening = startListener(join(file, "signalbox/agent.sock"));
  await expect(opening).rejects.toThrow(/cannot create .*file\/signalbox/);
});

test("a listening socket can be inherited", async () => {
  const path = createSocketPath();
  const server = await listenOn(path);
  const script = `
    import { openAgentListener } from "${import.meta.dirname}/../../../../src/core/process/agent-socket/listener.ts";
    import { startSocketServer } from "${import.meta.dirname}/../../../../src/core/process/agent-socket/socket-server.ts";
    import { takeInheritedSocket } from "${import.meta.dirname}/../../../../src/core/process/agent-socket/listening-socket.ts";
    import { loadPeerAddon } from "${import.meta.dirname}/../../../../src/core/process/agent-socket/peer.ts";
    process.env.LISTEN_PID = String(process.pid);
    const descriptor = takeInheritedSocket(process.env);
    const { port1, port2 } = new MessageChannel();
    const addon = loadPeerAddon();
    void startSocketServer(port2, { address: { descriptor }, addon, isServed: () => true });
    await openAgentListener({
      port: port1, readBootTime: addon.readBootTime, onFault: console.error,
      onCall: (call) => call.end(process.env.LISTEN_FDS === undefined ? 42 : 1),
    });
    console.log("ready");
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit", server._handle?.fd ?? -1],
    env: { ...process.env, LISTEN_FDS: "1" },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdio[1] as Readable, "data");
  linkSync(path, `${path}.kept`);
  server.close(); // removes the path; the child still listens
  const launcher = new FakeLauncher(`${path}.kept`);
  launcher.sendCall();
  expect((await launcher.receive(AGENT_REQUEST.end)).a).toBe(42n);
});

test.each([
  [{ LISTEN_PID: "7", LISTEN_FDS: "1", LISTEN_FDNAMES: "agent" }, 3],
  [{ LISTEN_PID: "8", LISTEN_FDS: "1" }, undefined],
  [{ LISTEN_FDS: "1" }, undefined],
  [{}, undefined],
])("the variables %o of systemd are for process 7 or not, and are removed", (env, descriptor) => {
  const own = { ...env, HOME: "/" };
  expect(takeInheritedSocket(own, 7)).toBe(descriptor);
  expect(own).toEqual({ HOME: "/" });
});

test("several inherited sockets are refused", () => {
  expect(() => takeInheritedSocket({ LISTEN_PID: "7", LISTEN_FDS: "2" }, 7)).toThrow('LISTEN_FDS is "2"');
});
