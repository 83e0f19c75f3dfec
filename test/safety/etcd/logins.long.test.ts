/** The cost of logins, with etcd's default bcrypt cost, and changes of passwords. */

import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { TRANSPORTS, type Transport } from "../../../fixtures/cluster/test-namespace.ts";
import { countLogins } from "../../../fixtures/etcd/index.ts";
import { putDueSchedule, WORKER_JOINED, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";

const PREFIX = "/jobs/";
const PASSWORD = "s3cret-of-the-runner";
const LOGIN = { rootPassword: "r00t", user: "runner", password: PASSWORD, prefix: PREFIX };
const ENV = {
  SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD: "yes",
  SIGNALBOX_USER: "runner",
  // The default is 10 s; a shared machine may be much slower than one that runs jobs.
  SIGNALBOX_CONNECT_TIMEOUT: "60s",
};
const RUNS = 24;

describe.each([1, 3])("at etcd's default bcrypt cost, on %i members", (size) => {
  const cluster = TestCluster.startForFile({ size, auth: LOGIN, bcryptCost: 10 });

  test.each(TRANSPORTS)(
    `${RUNS} runs that start together over %s all run, with one login each`,
    async (transport) => {
      const namespace = cluster.createNamespace({
        transport,
        prefix: PREFIX,
        env: { ...ENV, SIGNALBOX_PASSWORD_FILE: cluster.createPath(`${PASSWORD}\n`) },
      });
      const before = await countLogins(cluster.members);
      const runs = Array.from({ length: RUNS }, (_, i) => {
        return namespace.run(["--lock", `${transport}-${i}`], "echo ran");
      });
      const ends = await Promise.all(runs);
      for (const end of ends) expect(end).toPrint("ran\n");
      expect((await countLogins(cluster.members)) - before).toBe(RUNS);
    },
  );
});

describe("a password that is changed", () => {
  const cluster = TestCluster.startForFile({ auth: LOGIN });
  /** Users with a password of their own, so that tests beside each other do not meet. */
  let users = 0;

  async function runAsRoot(path: string, body: object) {
    const ask = async (to: string, what: object, authorization = "") => {
      const headers = { ...(authorization && { authorization }) };
      const answer = await fetch(`${cluster.etcd.clientUrl}/v3/auth/${to}`, {
        method: "POST",
        headers,
        body: JSON.stringify(what),
      });
      if (!answer.ok) throw new Error(`${to}: ${await answer.text()}`);
      return (await answer.json()) as { token: string };
    };
    const { token } = await ask("authenticate", { name: "root", password: LOGIN.rootPassword });
    await ask(path, body, token);
  }

  /** A user, its password file, and where it runs things. */
  async function enter(transport: Transport, ttl: string) {
    const name = `user${++users}`;
    await runAsRoot("user/add", { name, password: "first" });
    await runAsRoot("user/grant", { user: name, role: "limited" });
    const path = cluster.createPath("first\n");
    const env = { ...ENV, SIGNALBOX_USER: name, SIGNALBOX_PASSWORD_FILE: path, SIGNALBOX_TTL: ttl };
    const change = async (where: "etcd" | "file") => {
      if (where === "file") writeFileSync(path, "second\n");
      else await runAsRoot("user/changepw", { name, password: "second" });
    };
    return { change, namespace: cluster.createNamespace({ transport, prefix: `${PREFIX}${name}/`, env }) };
  }

  /** Resolves when a session was renewed twice since now: the second time, what the first was proved with was read. */
  async function waitUntilRenewed(session: bigint) {
    for (let rises = 0, before = Number.POSITIVE_INFINITY; rises < 2; ) {
      const { left } = (await cluster.store.readTimeToLive(session)) ?? { left: Number.NaN };
      expect(left, "seconds left of the session").toBeGreaterThan(0);
      if (left > before) rises += 1;
      before = left;
      await pause(100);
    }
  }

  describe.concurrent.each(TRANSPORTS)("over %s", (transport) => {
    test.each([
      ["etcd", "file"],
      ["file", "etcd"],
    ] as const)("in %s before %s: who holds goes on, who waits is next", async (first, second) => {
      const { change, namespace } = await enter(transport, "20s");
      const lock = `${transport} ${first}`;
      const holder = await namespace.startHolder(["--lock", lock]);
      const waiter = namespace.startRun(["--lock", lock, "--wait"], "echo next");
      await namespace.waitForTicket(waiter, "waiting", lock);
      const [held] = await namespace.readQueue(lock);
      await change(first);
      await pause(2_000); // an operator is quicker than the horizon, but not at once
      await change(second);
      await waitUntilRenewed(held?.session ?? 0n);
      expect(await holder.end()).toMatchObject({ code: 143, stdout: "up\n" });
      expect(await waiter.ended).toMatchObject({ code: 0, stdout: "next\n" });
    });

    test("a worker works on, a watch shows what comes", async () => {
      const { change, namespace } = await enter(transport, "20s");
      const worker = namespace.start("worker --accept-role-bypass");
      const watch = namespace.start("ls locks --watch --json");
      await Promise.all([worker.waitForOutput(WORKER_JOINED), watch.waitForOutput('"event":"ready"')]);
      await change("etcd");
      await pause(2_000);
      await change("file");
      const id = `after-${transport}`;
      await putDueSchedule(namespace, id, { command: ["echo", "worked"] });
      expect(await waitForOutcomes(namespace, id)).toMatchObject([{ tail: "worked" }]);
      const run = namespace.startRun(["--lock", id], "sleep 600");
      await watch.waitForOutput(new RegExp(id));
      run.kill("SIGTERM");
      worker.kill("SIGTERM");
      watch.kill("SIGTERM");
      expect(await worker.ended).toExit(0);
      expect(await watch.ended).toExit(143);
    });

    test("while only etcd has it, a new run ends at once", async () => {
      const { change, namespace } = await enter(transport, "20s");
      await change("etcd");
      expect(await namespace.run([], "echo ran")).toFail(77, "etcd refused the credentials");
    });
  });
});
