import { expect, test } from "vitest";
import { keepSocket } from "../../src/agent/agent.impl.ts";
import type { AgentContext } from "../../src/agent/agent-context.ts";
import type { AgentListener } from "../../src/core/process/agent-socket/listener.ts";
import type { PathCheck } from "../../src/core/process/agent-socket/listening-socket.ts";

const FOUND: PathCheck = { state: "found" };
const lose = (why: string): PathCheck => ({ state: "lost", path: "/run/agent.sock", why });

/** Runs one check after the other. @returns what was logged */
async function logChecks(checks: readonly PathCheck[], restoreKey: (check: number) => void = () => {}) {
  const stop = new AbortController();
  const logged: string[] = [];
  let next = 0;
  const write = (level: string) => (message: string, fields?: object) =>
    void logged.push([level, message, ...Object.values(fields ?? {})].join("; "));
  await keepSocket(
    {
      seal: { restore: () => restoreKey(next) },
      log: { info: write("info"), warn: write("warn") },
      clock: {
        sleep: async () => {
          if (next === checks.length) stop.abort();
          next += 1;
        },
      },
    } as unknown as AgentContext,
    { checkPath: async () => checks[next - 1] ?? FOUND } as AgentListener,
    stop.signal,
  );
  return logged;
}

test("a problem is logged once, and again when it is another one", async () => {
  expect(await logChecks([FOUND, lose("a"), lose("a"), lose("b"), FOUND, FOUND, lose("a")])).toEqual([
    "warn; launchers cannot find this agent at /run/agent.sock; a",
    "warn; launchers cannot find this agent at /run/agent.sock; b",
    "info; the socket and the key of this agent are back",
    "warn; launchers cannot find this agent at /run/agent.sock; a",
  ]);
});

test("a socket that was made again is logged each time", async () => {
  const logged = await logChecks([FOUND, { state: "restored" }, FOUND, { state: "restored" }]);
  expect(logged).toEqual(Array(2).fill("warn; the socket was removed; it has been restored"));
});

test("a key that cannot be written is logged once", async () => {
  const logged = await logChecks([FOUND, FOUND, FOUND], (check) => {
    if (check < 3) throw new Error("no space");
  });
  expect(logged).toEqual([
    "warn; the next agent will not know the runs of this one; no space",
    "info; the socket and the key of this agent are back",
  ]);
});
