/** An agent that systemd starts for a call, and that cannot start. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { createSocketPath, listenOn } from "../../fixtures/process/agent-socket.ts";
import { FakeLauncher } from "../../fixtures/process/fake-launcher.ts";
import { BUNDLE, createCleanEnv } from "../../fixtures/signalbox.ts";
import { EXIT } from "../../src/core/base/errors.ts";

/** Starts a program that inherits a listening socket as descriptor 3. */
function startWith(descriptor: number, ...command: [string, ...string[]]) {
  const [file, ...words] = command;
  const env = { ...createCleanEnv(), SIGNALBOX_TTL: "soon" };
  const child = spawn(file, words, { stdio: ["pipe", "ignore", "inherit", descriptor], env });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

test("calls that wait are refused, so that systemd does not start the agent for them again and again", async () => {
  const path = createSocketPath();
  const server = await listenOn(`${path}.bound`);
  const descriptor = server._handle?.fd ?? -1;
  startWith(descriptor, "sleep", "1000"); // as systemd, it keeps the socket open and accepts nothing
  const line = 'read go; LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"';
  const agent = startWith(descriptor, "sh", "-c", line, "sh", process.execPath, BUNDLE, "agent");
  linkSync(`${path}.bound`, path);
  server.close(); // removes the path to which it is bound
  const launchers = [1, 2, 3].map(() => new FakeLauncher(path));
  await Promise.all(launchers.map(({ socket }) => once(socket, "connect")));
  for (const launcher of launchers) launcher.sendCall();
  agent.stdin?.end("go\n");
  expect(await once(agent, "exit")).toEqual([EXIT.config, null]);
  for (const launcher of launchers) await launcher.waitForClose();
});
