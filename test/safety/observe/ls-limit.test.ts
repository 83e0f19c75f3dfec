/** `signalbox ls --limit` reads no more than its rows need, and shows the rows that a complete listing begins with. */

import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { generateAuditId, serializeAuditRecord } from "../../../src/core/protocol/audit.ts";
import { serializeDrain } from "../../../src/core/protocol/drain.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";
import type { Op } from "../../../src/core/protocol/txn.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const SESSION = 77n;

/** In the order of keys, the names before `/` come late, and encoded ones early. */
const NAMES = [
  ..."a a-b a-b-c a.b a.b-c ab a/b a%b b b- b--c é z z~ z_ ~ A Z a:b a@b 🚂 日本 - -a . .- a- aé a-é a.é-b".split(
    " ",
  ),
  "a b",
  "\uE000",
];

async function putQueues(namespace: TestNamespace, names: readonly string[], size = 1) {
  const puts = names.flatMap((name, queue): Op[] =>
    Array.from({ length: size }, (_, place) => {
      const run = `${queue}x${place}`.padStart(16, "0");
      const ticket = createTicket({ run, state: place === 0 ? "held" : "waiting" });
      const kind = queue % 3 === 2 ? "resource" : "lock";
      const key = namespace.keys[kind](name, run);
      return { op: "put", key, session: SESSION, value: serializeTicket(ticket) };
    }),
  );
  await namespace.store.grant(SESSION, 3_600).catch(() => {}); // another test may have done it
  for (let at = 0; at < puts.length; at += 100) await namespace.write(...puts.slice(at, at + 100));
}

/** Reads how many bytes etcd has sent to its clients. */
async function readSentBytes({ etcd }: TestNamespace) {
  const text = await (await fetch(`${etcd.clientUrl}/metrics`)).text();
  return Number(/^etcd_network_client_grpc_sent_bytes_total (\S+)$/m.exec(text)?.[1]);
}

describe.concurrent("ls --limit", () => {
  for (const listing of [
    "locks",
    "overview",
    "resources",
    "locks state:held",
    "locks --all",
    "queues",
    "runs",
  ])
    test(`${listing}: the first rows are those of the complete listing`, async ({ namespace }) => {
      await putQueues(namespace, NAMES, 2);
      const drain = serializeDrain({ by: "ann", at: 1 });
      await namespace.write({ op: "put", key: namespace.keys.drain("lock", "a-a"), value: drain });
      await namespace.write({ op: "put", key: namespace.keys.drain("lock", "a-b-c"), value: drain });
      const list = async (more: string) => {
        const { stdout } = await namespace.execute(`ls ${listing}${more} --wide`);
        return stdout
          .trimEnd()
          .split("\n")
          .map((row) => row.replaceAll(/ +/g, " "));
      };
      const all = await list("");
      expect(all.length).toBeGreaterThan(10);
      for (const limit of [1, 2, 3, 5, 8, 13, 19, 20, 21])
        expect(await list(` --limit ${limit}`)).toEqual(all.slice(0, limit + 1));
    });
});

test("etcd sends a page of a long collection, not all of it", async ({ namespace }) => {
  await putQueues(
    namespace,
    Array.from({ length: 4_000 }, (_, n) => `lock-${n}.${"x".repeat(100)}`),
  );
  const countBytes = async (line: string) => {
    const before = await readSentBytes(namespace);
    await namespace.expectDone(line);
    return (await readSentBytes(namespace)) - before;
  };
  const all = await countBytes("ls locks");
  expect(await countBytes("ls locks --limit 10")).toBeLessThan(all / 3);
  expect(await countBytes("ls --limit 10")).toBeLessThan(all / 3);
  const name = `lock-0.${"x".repeat(100)}`;
  expect(await countBytes(`show lock ${name}`)).toBeLessThan(all / 3);
  expect(await countBytes(`why ${name}`)).toBeLessThan(all / 3);
});

test("the last records of a long audit, in both formats, and those that a filter finds far back", async ({
  namespace,
}) => {
  const record = { user: "ann", host: "ops1", action: "drain", outcome: "drained", seen: 1n } as const;
  const NUMBER = 3_000;
  const puts = Array.from({ length: NUMBER }, (_, at): Op => {
    const id = generateAuditId(1_700_000_000_000 + at * 1_000, realRandom);
    const target = at === 7 ? "lock first" : `lock ${"x".repeat(100)}${at}`;
    const value = serializeAuditRecord({ ...record, id, at: 1_700_000_000_000 + at * 1_000, target });
    return { op: "put", key: namespace.keys.audit(id), value };
  });
  for (let at = 0; at < puts.length; at += 100) await namespace.write(...puts.slice(at, at + 100));
  const list = async (line: string) => {
    const before = await readSentBytes(namespace);
    const lines = (await namespace.expectDone(`ls audit --wide ${line}`)).split("\n");
    return { lines, bytes: (await readSentBytes(namespace)) - before };
  };
  const all = await list("");
  const few = await list("--limit 10");
  const strip = ({ lines }: { lines: string[] }) => lines.map((one) => one.replaceAll(/ +/g, " "));
  expect(strip(few).filter(Boolean)).toEqual(strip(all).slice(0, 11));
  expect(few.bytes).toBeLessThan(all.bytes / 3);
  expect((await list("first --limit 1")).lines[1]).toMatch(/lock first/);
  const json = await namespace.executeJson("ls audit --limit 2");
  expect(json.rows.map(({ target }: { target: string }) => target.replaceAll("x", ""))).toEqual([
    `lock ${NUMBER - 1}`,
    `lock ${NUMBER - 2}`,
  ]);
});
