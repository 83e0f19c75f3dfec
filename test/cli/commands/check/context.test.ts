import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createIo } from "../../../../fixtures/cli/sample-commands.ts";
import { createTestFolder } from "../../../../fixtures/test-folder.ts";
import { printContexts, showContext } from "../../../../src/cli/commands/check/config.impl.ts";
import type { CommandExecutor } from "../../../../src/cli/frame/command.ts";

const path = join(createTestFolder(afterAll), "config.json");
writeFileSync(
  path,
  JSON.stringify({
    context: "prod",
    contexts: {
      prod: { endpoints: "https://a:1", user: "op", password: "hush", prefix: "/p/", readOnly: true },
      staging: { endpoints: "http://b:2" },
      broken: { endpoints: "https://c:3", cert: "c.pem" },
    },
  }),
  { mode: 0o600 },
);

async function run(
  execute: CommandExecutor,
  { args = [], flags = {}, ...settings }: { args?: string[]; flags?: Record<string, true>; context?: string },
  env: Record<string, string> = {},
) {
  const { io, written } = createIo(env);
  const call = { args, flags, settings: { config: path, ...settings }, command: [], verbosity: 0 };
  await execute(call, io);
  return written.out;
}

test("context list shows names, which is active, and why one cannot be used", async () => {
  const lines = (await run(printContexts, {})).split("\n").map((line) => line.split(/\s{2,}/));
  expect(lines.slice(0, 4)).toEqual([
    ["CONTEXT", "ACTIVE", "ENDPOINTS", "PREFIX", "NOTE"],
    ["prod", "yes", "https://a:1", "/p/", "read-only"],
    ["staging", "-", "http://b:2", "/signalbox/", "-"],
    ["broken", "-", "-", "-", expect.stringContaining("cannot be used: cert is set (context broken of")],
  ]);
});

test.each([
  [{}, {}, "prod"],
  [{ context: "staging" }, {}, "staging"],
  [{}, { SIGNALBOX_CONTEXT: "broken" }, "broken"],
])("the active one of %j and %j is %s, even if it cannot be used", async (given, env, name) => {
  const { contexts } = JSON.parse(await run(printContexts, { ...given, flags: { json: true } }, env));
  expect(contexts.filter((one: { active: boolean }) => one.active)).toMatchObject([{ name, files: [path] }]);
});

test("context show prints what a context sets, and no password", async () => {
  const text = await run(showContext, { args: ["prod"], flags: { json: true } });
  expect(text).not.toContain("hush");
  expect(JSON.parse(text)).toMatchObject({
    context: "prod",
    settings: expect.arrayContaining([
      { key: "password", value: "***", source: `context prod of ${path}: password` },
      { key: "readOnly", value: "true", source: `context prod of ${path}: readOnly` },
    ]),
  });
  expect(await run(showContext, {})).toContain("https://a:1");
});

test("context show of an unknown one lists the known ones", async () => {
  await expect(run(showContext, { args: ["prd"] })).rejects.toThrow("known contexts: prod, staging, broken");
});
