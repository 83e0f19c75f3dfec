/**
 * The recipes of docs/fencing.md: a holder whose machine was paused wakes after the next holder has written, and its write is
 * refused.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { expireSession } from "../../../fixtures/cluster/expire-session.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { type DataStore, findSqlite, startPostgres, startRedis } from "../../../fixtures/data-stores.ts";
import { findEtcd } from "../../../fixtures/etcd/index.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import { runTool } from "../../../fixtures/run-tool.ts";

const { test } = TestCluster.startForFile();
const PAGE = readFileSync(new URL("../../../docs/fencing.md", import.meta.url), "utf8");

/** Returns the scripts of a section of the page. */
function findScripts(title: string) {
  const section = PAGE.split("\n## ").find((one) => one.startsWith(`${title}\n`)) ?? "";
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, script = ""]) => script);
}

interface Recipe {
  setUp?: string | undefined;
  job: string | undefined;
  read: string | undefined;
  env: Record<string, string>;
}

/** Has a paused holder write after the next one. @returns how its script ended, and what is read then */
async function writeLate(namespace: TestNamespace, { setUp = "", job = "", read = "", env }: Recipe) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-fencing-"));
  const proxy = await FaultProxy.start(namespace.etcd.clientUrl);
  onTestFinished(async () => {
    await proxy.close();
    rmSync(folder, { recursive: true });
  });
  const execute = runTool({ cwd: folder, env: { ...process.env, ...env } });
  await execute`sh -ec ${setUp}`;
  writeFileSync(join(folder, "job"), job);
  const wake = join(folder, "wake");
  const paused = `echo holding; until [ -e ${wake} ]; do sleep 0.05; done; NUMBER=old sh job; echo "ended: $?"; sleep 1000`;
  const options = ["--lock", "invoices", "--ttl", "600s", "--termination-timeout", "1s"];
  const old = namespace.startRun(options, ["sh", "-c", paused], { cwd: folder, env, endpoints: [proxy.url] });
  await old.waitForOutput("holding");
  proxy.mode = "drop"; // what the machine had open is dead after the pause, and says nothing
  proxy.strand();
  await expireSession(namespace, "invoices");
  const next = namespace.startRun("--lock invoices", "sh -c 'NUMBER=new sh job'", {
    cwd: folder,
    env,
  });
  expect(await next.ended).toExit(0);
  writeFileSync(wake, "");
  await old.waitForOutput("ended:");
  await old.end("SIGKILL");
  const code = Number(/ended: (\d+)/.exec(old.output.stdout)?.[1]);
  return { code, number: (await execute`sh -ec ${read}`).stdout.trim() };
}

async function borrow(starting: Promise<DataStore>) {
  const { env, stop } = await starting;
  onTestFinished(stop);
  return env;
}

test("PostgreSQL", async ({ namespace }) => {
  const [setUp, job] = findScripts("PostgreSQL");
  const env = await borrow(startPostgres());
  const read = "psql -At -c 'SELECT number FROM invoice'";
  expect(await writeLate(namespace, { setUp, job, read, env })).toEqual({ code: 3, number: "new" });
});

test("SQLite", async ({ namespace }) => {
  const [setUp, job] = findScripts("SQLite");
  const read = "sqlite3 app.db 'SELECT number FROM invoice'";
  const recipe = { setUp, job, read, env: await findSqlite() };
  expect(await writeLate(namespace, recipe)).toEqual({ code: 1, number: "new" });
});

test("Redis", async ({ namespace }) => {
  const [setUp, job] = findScripts("Redis");
  const env = await borrow(startRedis());
  const recipe = { setUp, job, read: "redis-cli GET invoice", env };
  expect(await writeLate(namespace, recipe)).toEqual({ code: 1, number: "new" });
});

test("files: what is written late is not read", async ({ namespace }) => {
  const [job, read] = findScripts("Files");
  expect(await writeLate(namespace, { job, read, env: {} })).toEqual({ code: 0, number: "new" });
});

test("etcd", async ({ namespace }) => {
  const [job] = findScripts("etcd");
  const { etcdctl } = await findEtcd();
  const env = {
    PATH: `${dirname(etcdctl)}:${process.env.PATH}`,
    ETCDCTL_API: "3",
    ETCDCTL_ENDPOINTS: namespace.etcd.clientUrl,
  };
  const read = "etcdctl get --print-value-only /app/last-invoice";
  expect(await writeLate(namespace, { job, read, env })).toEqual({ code: 1, number: "new" });
});

test("the question before the next step", async ({ namespace }) => {
  const [question = ""] = findScripts("Ask before the next step");
  const job = `PATH="$BIN:$PATH"; SIGNALBOX_ENDPOINTS=$DIRECT; ${question.replace("./send-invoices", 'echo "$NUMBER" > sent')}`;
  const env = { BIN: join(import.meta.dirname, "../../../dist"), DIRECT: namespace.etcd.clientUrl };
  expect(await writeLate(namespace, { job, read: "cat sent", env })).toEqual({ code: 1, number: "new" });
});
