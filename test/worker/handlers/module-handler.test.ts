import { expect, test } from "vitest";
import { listRemains } from "../../../fixtures/process/guarded-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { createHandlerFixture, createTask, writeTestFile } from "../../../fixtures/worker/handler-fixture.ts";
import { createModuleHandler } from "../../../src/worker/handlers/handlers.ts";

const matchFailure = (reason: string | RegExp) => ({
  result: "failed" as const,
  reason: typeof reason === "string" ? reason : expect.stringMatching(reason),
});

/** A module in which `SCRIPT` is the body of its function. */
const buildModule = (script: string) => `export default async (task) => { ${script} };\n`;

async function runHandler(text: string, more: { name?: string; export?: string; timeout?: number } = {}) {
  const { mark, ports } = createHandlerFixture();
  const { name = "module.mjs", ...options } = more;
  const handler = createModuleHandler(ports, { module: writeTestFile(name, text), ...options });
  const verdict = await handler.run(createTask({ data: { n: 1 } }));
  expect(listRemains(mark)).toEqual([]);
  return verdict;
}

test.each([
  ["returns", buildModule("return 5"), { result: "ok" }],
  ["finishes", buildModule("task.finish(); throw new Error('later')"), { result: "ok" }],
  ["throws", buildModule("throw new TypeError('no such table')"), matchFailure("TypeError: no such table")],
  ["throws no error", buildModule("throw 'words'"), matchFailure("words")],
  ["asks for another start", buildModule("task.retry(1500.4)"), { result: "retry", wait: 1500 }],
  ["asks for another start at any time", buildModule("task.retry()"), { result: "retry" }],
  ["asks for a wait that is none", buildModule("task.retry('5m')"), matchFailure(/^RangeError: retry\(5m\)/)],
  ["ends its process", buildModule("process.exit(3)"), matchFailure(/it ended the process with 3$/)],
  [
    "ends its process without complaint",
    buildModule("process.exit(0)"),
    matchFailure(/or it ended the process$/),
  ],
  ["never settles", buildModule("await new Promise(() => {})"), matchFailure(/never settled/)],
  [
    "fails behind its back",
    buildModule("setTimeout(() => nothing.there, 1); await new Promise((r) => setTimeout(r, 9000))"),
    matchFailure(/ReferenceError/),
  ],
  [
    "rejects behind its back",
    buildModule("Promise.reject(new Error('lost')); await new Promise((r) => setTimeout(r, 9000))"),
    matchFailure("Error: lost"),
  ],
  ["kills itself", buildModule("process.kill(process.pid, 'SIGKILL')"), { result: "failed", code: 137 }],
  ["exports nothing", "export const other = 1;\n", matchFailure(/no default export that is a function/)],
  ["cannot be parsed", "export default (;\n", matchFailure(/SyntaxError/)],
  ["imports what is missing", "import './nothing.mjs';\n", matchFailure(/Cannot find module/)],
  ["throws when imported", "throw new Error('early');\n", matchFailure("Error: early")],
  ["writes half a line", buildModule("process.stdout.write('half')"), { result: "ok", tail: "half" }],
])("a module that %s", async (_, text, verdict) => {
  expect(await runHandler(text)).toMatchObject(verdict);
});

test("what the host says of a module is not taken for output", async () => {
  const { ports, lines } = createHandlerFixture();
  const module = writeTestFile("module.mjs", buildModule("console.log('said'); console.error('more')"));
  const verdict = await createModuleHandler(ports, { module }).run(createTask());
  expect(verdict.tail?.split("\n").toSorted()).toEqual(["more", "said"]);
  expect(lines.toSorted()).toEqual(["more", "said"]);
});

test("TypeScript, and an export by name", async () => {
  const text = `export async function nightly(task: { data: { n: number }; scheduledTime: Date; attempt: number }): Promise<void> {
    console.log(JSON.stringify([task.data.n, task.scheduledTime.toISOString(), task.attempt]));
  }\n`;
  expect(await runHandler(text, { name: "module.ts", export: "nightly" })).toMatchObject({
    result: "ok",
    tail: '[1,"2026-11-21T12:00:00.000Z",2]',
  });
});

test("a module that blocks its process is ended by its timeout", async () => {
  expect(await runHandler(buildModule("for (;;);"), { timeout: 400 })).toMatchObject({ result: "timeout" });
});

test("a module hears by its signal that it must end", async () => {
  const { ports, lines } = createHandlerFixture({ terminationTimeout: 5_000 });
  const module = writeTestFile(
    "module.mjs",
    buildModule(
      "console.log('there'); await new Promise((r) => { task.signal.onabort = () => { console.log('bye'); r(); }; setTimeout(r, 20000); })",
    ),
  );
  const given = createTask();
  const running = createModuleHandler(ports, { module }).run(given);
  await waitUntil("output", () => lines.includes("there"));
  given.end("replaced");
  expect(await running).toMatchObject({ result: "replaced", tail: "there\nbye" });
});

test("secrets are not in what a module was ended by", async () => {
  const { ports } = createHandlerFixture({ secrets: ["hunter2"] });
  const module = writeTestFile("module.mjs", buildModule("throw new Error('hunter2 is wrong')"));
  expect(await createModuleHandler(ports, { module }).run(createTask())).toMatchObject({
    reason: "Error: *** is wrong",
  });
});
