import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createSocketPath } from "../../../../fixtures/process/agent-socket.ts";
import { askAgentVersion } from "../../../../src/core/process/agent-socket/launched-call.ts";
import { AGENT_REQUEST } from "../../../../src/core/process/agent-socket/wire.ts";
import { encodeFrame } from "../../../../src/core/process/guarded-command/wire.ts";

test("an agent that never ends its answer is silent after the limit, although it keeps sending", async () => {
  const path = createSocketPath();
  const server = createServer((socket) => {
    const frame = encodeFrame(AGENT_REQUEST.write, 1n, 0n, Buffer.from("1"));
    const timer = setInterval(() => socket.write(frame), 100);
    socket.on("error", () => {}).on("close", () => clearInterval(timer));
  });
  await once(server.listen(path), "listening");
  onTestFinished(() => void server.close());
  expect(await askAgentVersion(path)).toEqual({ kind: "silent", reason: "no answer within 2s" });
});
