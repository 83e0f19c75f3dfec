/** What works on a Mac, and what says that it needs Linux: the built programs, where Node looks as it does there. No Mac is used. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect } from "vitest";
import { IS_WITH_AGENT } from "../../../fixtures/cluster/test-agents.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { startPage } from "../../../fixtures/page.ts";
import { buildEnv } from "../../../fixtures/signalbox.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const MACOS = {
  env: { NODE_OPTIONS: `--require ${resolve(import.meta.dirname, "../../../fixtures/macos.cjs")}` },
};
const LIBRARY = resolve(import.meta.dirname, "../../../dist/library.mjs");

const startOnMac = (namespace: TestNamespace, line: string) => namespace.start(line, MACOS).ended;

// A Mac has no launcher.
describe.skipIf(IS_WITH_AGENT).concurrent("on a Mac", () => {
  test.for([
    ["run --lock a -- true", 78, "signalbox run needs Linux, and this is macOS"],
    ["worker", 78, "signalbox worker needs Linux, and this is macOS"],
    ["agent", 78, "signalbox agent needs Linux, and this is macOS"],
    ["setup etcd h1 --run", 78, "setup etcd --run needs Linux, and this is macOS"],
    ["golock -l a true", 201, "signalbox run needs Linux"],
    ["run --help", 0, ""],
    ["golock --help", 0, ""],
  ] as const)("%s ends with %i, and starts nothing", async ([line, code, message], { namespace }) => {
    expect(await startOnMac(namespace, line)).toExit(code, { stderr: message });
    expect(await namespace.listTickets()).toEqual([]);
  });

  test("what shows and what changes etcd works", async ({ namespace }) => {
    await namespace.startHolder("--lock held");
    for (const line of ["ls", "ls hosts", "show lock held", "why held", "console --once", "ls --json"])
      expect(await startOnMac(namespace, line), line).toExit(0, { stdout: /held|HOST/ });
    for (const line of [
      "drain all --yes",
      "undrain all --yes",
      "schedule add s @daily --yes -- true",
      "config",
    ])
      expect(await startOnMac(namespace, line), line).toExit(0);
    expect(await startOnMac(namespace, "reset lock held --yes")).toExit(0);
  });

  test("logs shows the output that this machine keeps", async ({ namespace }) => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-macos-"));
    namespace.onClose(() => rmSync(folder, { recursive: true }));
    const kept = { SIGNALBOX_OUTPUT_SIZE: "1M", SIGNALBOX_OUTPUT_DIRECTORY: folder };
    expect(await namespace.run("--lock a --capture", "echo said", { env: kept })).toExit(0);
    const logs = namespace.start("logs a", { env: { ...kept, ...MACOS.env } });
    expect(await logs.ended).toExit(0, { stdout: "said" });
  });

  test("init and doctor check etcd, and say that no job can start here", async ({ namespace }) => {
    for (const line of ["init", "doctor"])
      expect((await startOnMac(namespace, line)).stdout).toMatch(/^hint +host: this is macOS: no run/m);
    expect(await startOnMac(namespace, "init")).toExit(0);
  });

  test("the console shows what is held", async ({ namespace }) => {
    await namespace.startHolder("--lock held");
    const terminal = { columns: 120, rows: 40 };
    const screen = namespace.start("console --view locks", { ...MACOS, terminal });
    await screen.waitForOutput("held");
    screen.child.stdin?.write("q");
    expect(await screen.ended).toExit(0);
  });

  test("the page is served", async ({ namespace }) => {
    await namespace.startHolder("--lock held");
    const url = await startPage(namespace, [], MACOS);
    expect(await (await fetch(`${url}/locks`)).text()).toContain("held");
  });

  test("the library takes locks and runs handlers", async ({ namespace }) => {
    const { code, stdout, stderr } = await runOnMac(namespace, PROGRAM);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "busy\nheld true\nran 1\n", stderr: "" });
    expect(await namespace.listTickets()).toEqual([]);
  });
});

const PROGRAM = `
import { connect, Worker } from ${JSON.stringify(LIBRARY)};
const box = await connect();
const held = await box.acquire({ lock: "a" });
await box.withLock("a", () => {}).catch((error) => console.log(error.code.toLowerCase()));
console.log("held", await box.withLock("b", ({ signal }) => !signal.aborted));
await held.release();
const worker = new Worker(box, { handlers: { greet: ({ data }) => { console.log("ran", data); worker.stop(); } } });
await box.jobs.add("greet", 1);
await worker.run();
await box.close();
`;

async function runOnMac(namespace: TestNamespace, program: string) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-macos-"));
  namespace.onClose(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "program.mjs"), program);
  const env = buildEnv({ endpoints: cluster.endpoints, env: { ...namespace.env, ...MACOS.env } });
  const child = spawn(process.execPath, [join(folder, "program.mjs")], { env });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (text: Buffer) => {
    stdout += text;
  });
  child.stderr.on("data", (text: Buffer) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}
