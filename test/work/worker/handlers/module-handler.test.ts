import { expect, test } from "vitest";
import { waitUntil } from "../../../../fixtures/wait-until.ts";
import type { TaskResult } from "../../../../src/work/worker/handler.ts";
import { ModuleHandler } from "../../../../src/work/worker/handlers/module-handler.ts";
import { listRemains } from "../../../process/helpers.ts";
import { createHandlerFixture, writeTestFile } from "../handler-fixture.ts";

const failed = (reason: string | RegExp) => ({
  result: "failed" as const,
  reason: typeof reason === "string" ? reason : expect.stringMatching(reason),
});

/** A module in which `SCRIPT` is the body of its function. */
const body = (script: string) => `export default async (task) => { ${script} };\n`;

async function verdictOf(text: string, more: { name?: string; export?: string; timeout?: number } = {}) {
  const { mark, ports, createTask: task } = createHandlerFixture();
  const { name = "module.mjs", ...options } = more;
  const handler = new ModuleHandler(ports, { module: writeTestFile(name, text), ...options });
  const verdict = await handler.run(task({ data: { n: 1 } }));
  expect(listRemains(mark)).toEqual([]);
  return verdict;
}

test.each<[string, string, Partial<TaskResult>]>([
  ["returns", body("return 5"), { result: "ok" }],
  ["finishes", body("task.finish(); throw new Error('later')"), { result: "ok" }],
  ["throws", body("throw new TypeError('no such table')"), failed("TypeError: no such table")],
  ["throws no error", body("throw 'words'"), failed("words")],
  ["asks for another start", body("task.retry(1500.4)"), { result: "retry", wait: 1500 }],
  ["asks for another start at any time", body("task.retry()"), { result: "retry" }],
  ["asks for a wait that is none", body("task.retry('5m')"), failed(/^RangeError: retry\(5m\)/)],
  ["ends its process", body("process.exit(3)"), failed(/it ended the process with 3$/)],
  ["ends its process without complaint", body("process.exit(0)"), failed(/or it ended the process$/)],
  ["never settles", body("await new Promise(() => {})"), failed(/never settled/)],
  [
    "fails behind its back",
    body("setTimeout(() => nothing.there, 1); await new Promise((r) => setTimeout(r, 9000))"),
    failed(/ReferenceError/),
  ],
  [
    "rejects behind its back",
    body("Promise.reject(new Error('lost')); await new Promise((r) => setTimeout(r, 9000))"),
    failed("Error: lost"),
  ],
  ["kills itself", body("process.kill(process.pid, 'SIGKILL')"), { result: "failed", code: 137 }],
  ["exports nothing", "export const other = 1;\n", failed(/no default export that is a function/)],
  ["cannot be parsed", "export default (;\n", failed(/SyntaxError/)],
  ["imports what is missing", "import './nothing.mjs';\n", failed(/Cannot find module/)],
  ["throws when imported", "throw new Error('early');\n", failed("Error: early")],
  ["writes half a line", body("process.stdout.write('half')"), { result: "ok", tail: "half" }],
])("a module that %s", async (_, text, verdict) => {
  expect(await verdictOf(text)).toMatchObject(verdict);
});

test("what the host says of a module is not taken for output", async () => {
  const { ports, createTask: task, lines } = createHandlerFixture();
  const module = writeTestFile("module.mjs", body("console.log('said'); console.error('more')"));
  const verdict = await new ModuleHandler(ports, { module }).run(task());
  expect(verdict.tail?.split("\n").toSorted()).toEqual(["more", "said"]);
  expect(lines.toSorted()).toEqual(["more", "said"]);
});

test("TypeScript, and an export by name", async () => {
  const text = `export async function nightly(task: { data: { n: number }; scheduledTime: Date; attempt: number }): Promise<void> {
    console.log(JSON.stringify([task.data.n, task.scheduledTime.toISOString(), task.attempt]));
  }\n`;
  expect(await verdictOf(text, { name: "module.ts", export: "nightly" })).toMatchObject({
    result: "ok",
    tail: '[1,"2026-11-21T12:00:00.000Z",2]',
  });
});

test("a module that blocks its process is ended by its timeout", async () => {
  expect(await verdictOf(body("for (;;);"), { timeout: 400 })).toMatchObject({ result: "timeout" });
});

test("a module hears by its signal that it must end", async () => {
  const { ports, createTask: task, lines } = createHandlerFixture({ terminationTimeout: 5_000 });
  const module = writeTestFile(
    "module.mjs",
    body(
      "console.log('there'); await new Promise((r) => { task.signal.onabort = () => { console.log('bye'); r(); }; setTimeout(r, 20000); })",
    ),
  );
  const given = task();
  const running = new ModuleHandler(ports, { module }).run(given);
  await waitUntil("output", () => lines.includes("there"));
  given.end("replaced");
  expect(await running).toMatchObject({ result: "replaced", tail: "there\nbye" });
});

test("secrets are not in what a module was ended by", async () => {
  const { ports, createTask: task } = createHandlerFixture({ secrets: ["hunter2"] });
  const module = writeTestFile("module.mjs", body("throw new Error('hunter2 is wrong')"));
  expect(await new ModuleHandler(ports, { module }).run(task())).toMatchObject({
    reason: "Error: *** is wrong",
  });
});
