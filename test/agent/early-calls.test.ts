import { setImmediate as waitForTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { clock } from "../../fixtures/process/guarded-processes.ts";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentContext } from "../../src/agent/agent-context.ts";
import { silentLog } from "../../src/core/base/log.ts";
import { LaunchedCall } from "../../src/core/process/agent-socket/launched-call.ts";
import { Outbox, type SocketOrder } from "../../src/core/process/agent-socket/socket-messages.ts";

test("calls that have waited for the first session have turns of their own, so that renewals have theirs in between", async () => {
  const opened = Promise.withResolvers<void>();
  const context = {
    clock,
    log: silentLog,
    settings: { ttl: 30_000 },
    sessions: { keepOpen: () => opened.promise },
  } as unknown as AgentContext;
  const agent = new Agent(context);
  const ended: number[] = [];
  const serve = (id: number) => {
    const orders = { postMessage: (all: readonly SocketOrder[]) => all.forEach(note), on: () => {} };
    const note = ({ kind }: SocketOrder) => kind === "finish" && ended.push(id);
    const outbox = new Outbox<SocketOrder>(orders as never, (act) => act());
    const request = { words: ["--version"], state: "new", settings: {} };
    agent.serve(new LaunchedCall({ request } as never, 0, outbox, async () => {}));
  };
  const opening = agent.openFirstSession(new AbortController().signal);
  for (const id of [1, 2, 3]) serve(id);
  opened.resolve();
  await opening;
  const counts: number[] = [];
  while (ended.length < 3) {
    await waitForTurn();
    if (counts.at(-1) !== ended.length) counts.push(ended.length);
  }
  expect(ended).toEqual([1, 2, 3]);
  expect(counts.filter((count) => count > 0)).toEqual([1, 2, 3]);
});
