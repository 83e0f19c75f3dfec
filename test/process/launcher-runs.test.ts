import { expect, test } from "vitest";
import { launchRun, serveEnd, serveStart, startAgent } from "./launcher-helpers.ts";

test.each([
  ["exit 0", 0],
  ["exit 42", 42],
  ["kill -TERM $$", 143],
  ["kill -KILL $$", 137],
])("`%s` ends the launcher with %i, and nothing is said", async (script, code) => {
  const agent = await startAgent();
  const run = launchRun(agent);
  const connection = await agent.accept();
  await serveStart(connection, ["sh", "-c", script]);
  expect(await serveEnd(connection)).toMatchObject({ bits: 0, guardians: 0 });
  expect(await run.ended).toEqual({ code, signal: null, out: "", err: "" });
});
