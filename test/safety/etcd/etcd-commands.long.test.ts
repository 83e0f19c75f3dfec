/** `signalbox etcd sessions` and `users`: whose the sessions are, and who may read users. */
import { describe, expect } from "vitest";
import { IS_WITH_AGENT } from "../../../fixtures/cluster/test-agents.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { buildLogin } from "../../../fixtures/etcd/index.ts";
import { findMismatches } from "../../../fixtures/find-mismatches.ts";
import { ETCD_SCHEMA } from "../../../scripts/json-doc.ts";
import type { Op } from "../../../src/core/protocol/txn.ts";

interface Session {
  id: string;
  kind: string;
  left?: number;
  ttl?: number;
  host?: string;
  pid?: number;
  keyCount: number;
  keys: { key?: string; keyBase64?: string; what?: string }[];
}

/** Reads a document, and checks that it is as documented. */
async function readDocument<T>(namespace: TestNamespace, what: string, ...flags: string[]): Promise<T> {
  const { code, stdout, stderr } = await namespace.execute(["etcd", what, "--json", ...flags]);
  expect({ code, what: code === 0 ? "" : stderr }).toEqual({ code: 0, what: "" });
  const { version: _, ...document } = JSON.parse(stdout);
  expect(findMismatches(ETCD_SCHEMA, { $ref: `#/$defs/etcd ${what}` }, document)).toEqual([]);
  return document;
}

/** etcd's own count of requests for a session. */
const ASKED =
  'grpc_server_started_total\\{grpc_method="LeaseTimeToLive",grpc_service="etcdserverpb.Lease",grpc_type="unary"\\}';

describe("sessions", () => {
  const cluster = TestCluster.startForFile();

  const write = (...ops: Op[]) => cluster.write(...ops);

  cluster.test.for(TRANSPORTS)(
    "are those of runs and of other programs (over %s)",
    async (transport, { onTestFinished }) => {
      const namespace = await cluster.createTestNamespace(transport, { onTestFinished });
      const base = transport === "http" ? 1_000n : 2_000n;
      await cluster.store.grant(base, 60);
      await cluster.store.grant(base + 1n, 900);
      await cluster.store.grant(base + 2n, 900);
      const foreign = `/foreign/${transport}`;
      await write(
        { op: "put", key: `${foreign}\xff`, value: "", session: base },
        { op: "put", key: foreign, value: "x", session: base },
      );
      for (let key = 0; key < 120; key += 1)
        await write({ op: "put", key: `${foreign}/${key}`, value: "", session: base + 2n });
      const run = await namespace.jobs.startHolder("run", "--lock x --lease db=1:2");
      const { sessions, count, more } = await readDocument<{
        sessions: Session[];
        count: number;
        more: number;
      }>(namespace, "sessions");
      expect({ count, more }).toEqual({ count: sessions.length, more: 0 });
      const find = (id: bigint) => sessions.find((one) => one.id === id.toString(16));
      expect(find(base)).toMatchObject({
        kind: "foreign",
        ttl: 60,
        keyCount: 2,
        keys: expect.arrayContaining([{ key: foreign }, { keyBase64: btoa(`${foreign}\xff`) }]),
      });
      expect(find(base + 1n)).toMatchObject({ kind: "empty", keyCount: 0, keys: [] });
      expect(find(base + 2n)).toMatchObject({ keyCount: 120 });
      expect(find(base + 2n)?.keys).toHaveLength(100);
      const ticket = /^ticket for lock x of run /;
      const own = sessions.find(({ keys }) => keys.some(({ what = "" }) => ticket.test(what)));
      const kind = IS_WITH_AGENT ? "agent" : "run";
      const pid = IS_WITH_AGENT ? expect.any(Number) : run.pid;
      expect(own).toMatchObject({ kind, host: expect.any(String), pid, ttl: 60 }); // `sessionTimes` is long
      const tickets = own?.keys.flatMap(({ what = "" }) => (what.startsWith("ticket ") ? [what] : []));
      expect(tickets?.sort()).toEqual([
        expect.stringMatching(ticket),
        expect.stringMatching(/^ticket for resource db of run /),
      ]);
      expect(sessions.map(({ left = 0 }) => left)).toEqual(
        sessions.map(({ left = 0 }) => left).toSorted((a, b) => a - b),
      );
      const table = await namespace.execute("etcd sessions");
      expect(table).toExit(0, { stdout: /^SESSION +LEFT +TTL +KIND +OWNER +KEYS +WHAT/ });
      expect(table.stdout).toMatch(new RegExp(`${kind} +\\S+:${own?.pid} `));
      expect(table.stdout).toContain(`${foreign}\\xff`);
      expect(await namespace.execute("etcd sessions --limit 1")).toExit(0, {
        stdout: /^SESSION.*\n.*\n$/,
        stderr: `note: 1 of ${count} sessions are shown; --limit ${count} shows all`,
      });
      const few = await readDocument<{ more: number }>(namespace, "sessions", "--limit", "1");
      expect(few.more).toBe(count - 1);
      for (const id of [base, base + 1n, base + 2n]) await cluster.store.revoke(id);
    },
  );
});

describe("very many sessions", () => {
  const cluster = TestCluster.startForFile();

  cluster.test("are counted, and only the first are asked for", async ({ namespace }) => {
    const MANY = 2_000;
    const grantSome = async (from: number) => {
      for (let id = from; id <= MANY; id += 20) await cluster.store.grant(BigInt(id), 600);
    };
    await Promise.all(Array.from({ length: 20 }, (_, at) => grantSome(at + 1)));
    const before = await namespace.readMetric(ASKED);
    const { more, sessions } = await readDocument<{ more: number; sessions: Session[] }>(
      namespace,
      "sessions",
    );
    expect({ more, shown: sessions.length }).toEqual({ more: MANY - 100, shown: 100 });
    const asked = (await namespace.readMetric(ASKED)) - before;
    expect(asked).toBeGreaterThanOrEqual(200);
    expect(asked, "some may be asked again on a slow machine").toBeLessThan(300);
  });
});

describe("users", () => {
  const secured = TestCluster.startForFile({
    auth: { rootPassword: "r00t", user: "runner", password: "secret", prefix: "/jobs/" },
  });
  secured.test.for(TRANSPORTS)("are shown to root, with their rights (over %s)", async (transport) => {
    const root = secured.createNamespace({ transport, env: buildLogin("root", "r00t") });
    const document = await readDocument(root, "users");
    expect(document).toMatchObject({
      enabled: true,
      users: [
        { name: "root", roles: ["root"] },
        { name: "runner", roles: ["limited"] },
      ],
      roles: expect.arrayContaining([
        {
          name: "limited",
          permissions: [{ access: "readwrite", key: "/jobs/", rangeEnd: "/jobs0", keys: "/jobs/*" }],
        },
      ]),
    });
    expect(await root.execute("etcd users")).toExit(0, {
      stdout:
        /^authentication is on\nUSER +ROLES\nroot +root\nrunner +limited\nROLE +MAY +KEYS\n(.*\n)*limited +readwrite +\/jobs\/\*\n/,
    });
  });

  secured.test.for(TRANSPORTS)("are not shown to others, who are told so (over %s)", async (transport) => {
    const runner = secured.createNamespace({ transport, env: buildLogin("runner") });
    expect(await runner.execute("etcd users --json")).toFail(
      77,
      'user "runner" may not read users and roles: etcd shows them only to users with the role root',
    );
    // Later releases show less to others than the first ones.
    const members = await runner.execute("etcd members");
    expect(members).toExit(0, { stdout: /m1 +(leader|hidden) .*3\.\d+\.\d+/ });
    const sessions = await runner.execute("etcd sessions");
    if (sessions.code !== 0)
      expect(sessions).toFail(77, 'user "runner" may not read the sessions of this etcd');
    expect(await runner.execute("etcd keys")).toFail(77, 'user "runner" needs a role with read on all keys');
    const nobody = secured.createNamespace({ transport });
    expect(await nobody.execute("etcd users")).toFail(77, "set user and passwordFile");
  });
});

describe("where authentication is off", () => {
  const cluster = TestCluster.startForFile();

  cluster.test("users have no effect, and that is said", async ({ namespace }) => {
    await cluster.etcd.runEtcdctl("user", "add", "ann:secret");
    expect(await readDocument(namespace, "users")).toEqual({
      enabled: false,
      users: [{ name: "ann", roles: [] }],
      roles: [],
    });
    expect(await namespace.execute("etcd users")).toExit(0, {
      stdout: /^authentication is off: everybody .*\nUSER\nann\n$/,
    });
  });
});
