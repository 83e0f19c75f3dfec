import { expect, onTestFinished, test } from "vitest";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { runCaptured } from "../../../src/core/process/editor-and-pager.ts";

/** Starts a shell command, and before it a process that leaves its group and keeps its output open. */
async function startWithEscapee(command: string) {
  const lines: string[] = [];
  const stop = new AbortController();
  const leave = "setsid sh -c 'echo escapee $$; exec sleep 600' &";
  const argv = ["/bin/sh", "-c", `${leave} echo program $$; ${command}`] as const;
  const ended = runCaptured(
    { argv, env: {} },
    { writeLine: (text) => lines.push(text), signal: stop.signal },
  );
  const waitForPid = (name: string) =>
    waitUntil(name, () => Number(lines.find((line) => line.startsWith(name))?.split(" ")[1]) || undefined);
  const escapee = await waitForPid("escapee");
  onTestFinished(() => void process.kill(escapee, "SIGKILL"));
  const program = await waitForPid("program");
  return { lines, stop, ended, isRunning: () => isAlive(program) };
}

function isAlive(pid: number) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a program that is stopped ends, although a process outside of its group keeps its output open", async () => {
  const handler = "trap 'echo stopping; exit 4' TERM; echo ready; while :; do sleep 0.1; done";
  const { lines, stop, ended } = await startWithEscapee(handler);
  await waitUntil("the handler is set", () => lines.includes("ready"));
  stop.abort();
  expect(await ended).toBe(4);
  expect(lines).toContain("stopping");
});

test.each([
  ["that has ended can be stopped", "exit 3"],
  ["that has left a process in its group: that is stopped too", "sleep 600 & exit 3"],
])("a program %s, although a process outside of its group keeps its output open", async (_, command) => {
  const { stop, ended, isRunning } = await startWithEscapee(command);
  await waitUntil("the program has ended", () => !isRunning());
  stop.abort();
  expect(await ended).toBe(3);
});
