/** What doctor says about the agent of this host. */
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createFolder, openListener } from "../../../fixtures/process/agent-socket.ts";
import { isRoot } from "../../../fixtures/process/guarded-processes.ts";
import { VERSION } from "../../../src/core/base/version.ts";
import type { LaunchedCall } from "../../../src/core/process/agent-socket/launched-call.ts";
import { checkAgent, locateAgentSocket } from "../../../src/site/check/this-host.ts";

/** Starts an agent that answers with a version. */
async function startAgent(version: string, isServed: () => true | string = () => true) {
  const path = join(createFolder(), "agent.sock");
  const on = {
    onCall(call: LaunchedCall) {
      expect(call.request.words).toEqual(["--version"]);
      call.accept();
      call.writeOutput(1, `${version}\n`);
      call.end(0);
    },
    onFault: (error: Error) => {
      throw error;
    },
  };
  await openListener({ path }, on, { isServed });
  return path;
}

test("an agent of this version is fine, another one should be restarted", async () => {
  expect(await checkAgent(await startAgent(VERSION))).toMatchObject({ kind: "agent", level: "ok" });
  const other = await checkAgent(await startAgent("0.0.1"));
  expect(other).toMatchObject({ level: "warning", detail: expect.stringContaining("version 0.0.1 answers") });
  expect(other.remedy).toContain("restart the agent");
});

test("no agent is fine, a socket without one is not", async () => {
  const path = join(createFolder(), "agent.sock");
  expect(await checkAgent(path)).toMatchObject({
    level: "ok",
    detail: `none at ${path}: each run connects to etcd by itself`,
  });
  writeFileSync(path, "");
  expect(await checkAgent(path)).toMatchObject({
    level: "warning",
    detail: expect.stringContaining("it is not a socket"),
  });
});

test("an agent that does not answer, or closes, is reported", async () => {
  const path = join(createFolder(), "agent.sock");
  const server = createServer((socket) => socket.destroy());
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  expect(await checkAgent(path)).toMatchObject({
    level: "warning",
    detail: expect.stringContaining(`nobody answers at ${path}`),
  });
});

test("an agent that does not serve this user is reported with its reason", async () => {
  const finding = await checkAgent(await startAgent(VERSION, () => "the agent does not serve user 7"));
  expect(finding).toMatchObject({
    level: "warning",
    detail: expect.stringContaining("does not serve user 7"),
  });
});

test("a folder in which others can write is reported, as launchers refuse it; with the sticky bit it is fine", async () => {
  const path = await startAgent(VERSION);
  chmodSync(join(path, ".."), 0o777);
  expect((await checkAgent(path)).detail).toContain("other users can write to its folder");
  chmodSync(join(path, ".."), 0o1777);
  expect(await checkAgent(path)).toMatchObject({ level: "ok" });
});

test.runIf(isRoot)("a socket or a folder of another user is reported", async () => {
  const path = await startAgent(VERSION);
  chownSync(path, 12_345, 12_345);
  expect((await checkAgent(path)).detail).toContain("it belongs to user 12345");
  chownSync(path, 0, 0);
  chownSync(join(path, ".."), 12_345, 12_345);
  expect((await checkAgent(path)).detail).toMatch(/its folder .* belongs to user 12345/);
});

test("the socket is the chosen one, else that of the system, or a user's own if it exists", () => {
  expect(locateAgentSocket("/x/agent.sock", {})).toBe("/x/agent.sock");
  expect(locateAgentSocket(undefined, {})).toBe("/run/signalbox/agent.sock");
  const folder = createFolder();
  const own = join(folder, "signalbox/agent.sock");
  expect(locateAgentSocket(undefined, { XDG_RUNTIME_DIR: folder })).toBe("/run/signalbox/agent.sock");
  mkdirSync(join(folder, "signalbox"));
  writeFileSync(own, "");
  onTestFinished(() => rmSync(own));
  const expected = process.getuid?.() === 0 ? "/run/signalbox/agent.sock" : own;
  expect(locateAgentSocket(undefined, { XDG_RUNTIME_DIR: folder })).toBe(expected);
});
