/** Each file of examples/ works as a separate program that imports the built package. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const EXAMPLES = resolve(import.meta.dirname, "../../../examples");

const cluster = TestCluster.startForFile();
const { test } = cluster;
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
});

function startProgram(namespace: TestNamespace, args: readonly string[]) {
  const env = {
    ...namespace.env,
    PATH: process.env.PATH,
    SIGNALBOX_ENDPOINTS: cluster.etcd.endpoints.join(","),
  };
  const child = spawn(process.execPath, args, { env, cwd: EXAMPLES });
  children.push(child);
  const output = { text: "" };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output.text += text;
    });
  const ended = once(child, "close").then(([code]) => ({ code, text: output.text }));
  return { child, output, ended };
}

const startExample = (namespace: TestNamespace, name: string) =>
  startProgram(namespace, [join(EXAMPLES, name)]);

describe.concurrent("the examples", () => {
  const said: Record<string, RegExp> = {
    "lock.mjs": /^3 rows, written with token \d+\n$/,
    "leases.mjs": /^two units of db are ours\n$/,
    "hold.mjs": /^leading with token \d+\n$/,
    "etl.mjs": /^(\w+ extracted, token \d+\n){4}4 tables loaded\n$/,
    "rate-limit.mjs": /^12 calls, the last one returned 11\n$/,
    "job-queue.mjs":
      /^(?=[\s\S]*ann, attempt 1\n)(?=[\s\S]*bob, attempt 2\n)(?=[\s\S]*cleo, attempt 1\n)(invoice for .*\n){3}$/,
    "schedules.mjs":
      /^mail\.digest 0 7 \* \* mon-fri \d{4}-\d\d-\d\dT0[56]:00:00\.000Z\nmail\.digest: mail to team@example\.com\n$/,
  };

  test.each(Object.entries(said))("%s", async (name, text) => {
    expect(await startExample(cluster.createNamespace(), name).ended).toEqual({
      code: 0,
      text: expect.stringMatching(text),
    });
  });

  test("worker.mjs", async ({ namespace }) => {
    const add = ["schedule", "add", "mail.digest", "mail.digest", "@yearly", '{"to":"you"}', "--yes"];
    await namespace.expectDone(...add);
    await namespace.expectDone("schedule add backup.db backup.db @yearly --yes");
    const { child, output, ended } = startExample(namespace, "worker.mjs");
    for (const id of ["mail.digest", "backup.db"])
      await namespace.execute(["schedule", "trigger", id, "--yes"]);
    await waitUntil("both tasks", () => output.text.split("\n").length > 2);
    child.kill("SIGTERM");
    const { code, text } = await ended;
    expect({ code, lines: text.trim().split("\n").sort() }).toEqual({
      code: 0,
      lines: [expect.stringMatching(/^backup\.db of 20\d\d-.*Z$/), "digest for you, attempt 1"],
    });
  });

  test("web-cron.mjs runs an occurrence on one of its copies", async ({ namespace }) => {
    const copies = [startExample(namespace, "web-cron.mjs"), startExample(namespace, "web-cron.mjs")];
    for (const { output } of copies) await waitUntil("it listens", () => output.text.includes("port "));
    await namespace.expectDone("schedule trigger digest.daily --yes");
    const readAll = () => copies.map(({ output }) => output.text).join("");
    await waitUntil("the task has ended", () => readAll().includes("digest.daily: ok"));
    const ports = copies.map(({ output }) => /port (\d+)/.exec(output.text)?.[1]);
    const answers = await Promise.all(
      ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}`)).text()),
    );
    expect(answers.sort()).toEqual(["0 digests\n", "1 digests\n"]);
    for (const { child } of copies) child.kill("SIGTERM");
    for (const { ended } of copies) expect(await ended).toExit(0);
    expect(readAll().match(/digest\.daily: ok/g)).toHaveLength(1);
  });

  test("leader.mjs has one leader, and all copies know it", async ({ namespace }) => {
    const first = startExample(namespace, "leader.mjs");
    await waitUntil("it leads", () => first.output.text.includes("I lead"));
    const second = startExample(namespace, "leader.mjs");
    const told = `process ${first.child.pid} leads`;
    for (const { output } of [first, second]) await waitUntil(told, () => output.text.includes(told));
    expect(second.output.text).not.toContain("I lead");
    first.child.kill("SIGTERM");
    expect(await first.ended).toExit(0);
    await waitUntil("the second leads", () => second.output.text.includes("I lead"));
    await waitUntil("it is told", () => second.output.text.includes(`process ${second.child.pid} leads`));
    second.child.kill("SIGTERM");
    expect(await second.ended).toExit(0);
  });

  test("testing.test.mjs passes without etcd", async () => {
    const args = ["--test", "--test-reporter=tap", join(EXAMPLES, "testing.test.mjs")];
    const { code, text } = await startProgram(cluster.createNamespace(), args).ended;
    expect({ code, text }).toEqual({ code: 0, text: expect.stringContaining("# pass 2") });
  });

  test("are all here", () => {
    const tested = ["worker.mjs", "web-cron.mjs", "leader.mjs", "testing.test.mjs", "http-worker.yaml"];
    const notTested = ["ansible.yaml", "site-workflow.yaml"]; // for Ansible and GitHub
    expect(readdirSync(EXAMPLES).sort()).toEqual([...Object.keys(said), ...tested, ...notTested].sort());
  });
});

test("a connection that is idle does not keep its process alive", async () => {
  const text = `
    import { connect } from "signalbox";
    for (const transport of ["http", "grpc"]) {
      const signalbox = await connect({ transport });
      await signalbox.withLock("x", () => console.log(transport));
    }`;
  const { ended } = startProgram(cluster.createNamespace(), ["--input-type=module", "-e", text]);
  expect(await ended).toEqual({ code: 0, text: "http\ngrpc\n" });
});
