import { expect, onTestFinished, test } from "vitest";
import { waitUntil } from "../../fixtures/wait-until.ts";
import { runCaptured } from "../../src/process/editor-and-pager.ts";

/** Starts a shell command, and before it a process that leaves its group and keeps its output open. */
async function startWithEscapee(command: string) {
  const lines: string[] = [];
  const stop = new AbortController();
  const argv = ["/bin/sh", "-c", `setsid sleep 600 & echo $!; echo $$; ${command}`] as const;
  const ended = runCaptured(
    { argv, env: {} },
    { writeLine: (text) => lines.push(text), signal: stop.signal },
  );
  const [escapee, pid] = await waitUntil("both run", () => lines.length > 1 && lines.map(Number));
  onTestFinished(() => void process.kill(escapee ?? 0, "SIGKILL"));
  return { lines, stop, ended, isRunning: () => isAlive(pid ?? 0) };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a program that has ended can be stopped, although a process outside of its group keeps its output open", async () => {
  const { stop, ended, isRunning } = await startWithEscapee("exit 3");
  await waitUntil("the program has ended", () => !isRunning());
  stop.abort();
  expect(await ended).toBe(3);
});

test("a program that is stopped ends, although a process outside of its group keeps its output open", async () => {
  const handler = "trap 'echo stopping; exit 4' TERM; echo ready; while :; do sleep 0.1; done";
  const { lines, stop, ended } = await startWithEscapee(handler);
  await waitUntil("the handler is set", () => lines.includes("ready"));
  stop.abort();
  expect(await ended).toBe(4);
  expect(lines).toContain("stopping");
});
