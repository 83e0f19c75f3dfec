/** `signalbox prune`: old records are listed, confirmed, and deleted. */
import { expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { startSignalbox } from "../../../fixtures/signalbox.ts";
import { formatAuditTime } from "../../../src/core/protocol/audit.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";

const DAY = 86_400_000;
const keys = createKeys("/signalbox/");
const cluster = TestCluster.startForFile();

const prune = (...args: string[]) =>
  startSignalbox(["prune", ...args], { endpoints: cluster.endpoints }).ended;

async function listHosts() {
  const { kvs } = await cluster.store.readRange(keys.hosts());
  return kvs.map(({ key }) => key.slice(keys.hosts().key.length));
}

/** Writes two hosts: one that was seen now, one that was not seen for 90 days. */
async function putHosts() {
  const puts = [0, 90].map((days) => {
    const value = JSON.stringify({ v: 1, seenAt: Date.now() - days * DAY });
    return { op: "put", key: keys.host(`web${days}`), value } as const;
  });
  await cluster.write(...puts);
}

test.each([
  // case, arguments, exit code, JSON, hosts left
  ["without an age", ["--yes"], 64, undefined, ["web0", "web90"]],
  ["with a wrong age", ["--hosts", "old", "--yes"], 64, undefined, ["web0", "web90"]],
  ["a look at it", ["--hosts", "30d", "--dry-run"], 0, { audit: 0, hosts: ["web90"] }, ["web0", "web90"]],
  ["nothing that old", ["--hosts", "365d", "--yes"], 0, { audit: 0, hosts: [] }, ["web0", "web90"]],
  [
    "nothing that old, strictly",
    ["--hosts", "365d", "--yes", "--strict"],
    1,
    { hosts: [] },
    ["web0", "web90"],
  ],
  ["unconfirmed", ["--hosts", "30d"], 64, undefined, ["web0", "web90"]],
  ["confirmed", ["--hosts", "30d", "--yes", "--reason", "moved"], 0, { hosts: ["web90"] }, ["web0"]],
  ["its own record, later", ["--audit", "0s", "--yes"], 0, { audit: 1, hosts: [] }, ["web0", "web90"]],
])("%s", async (_, args, code, document, left) => {
  await putHosts();
  const { stdout, ...result } = await prune(...args, "--json");
  expect(result).toExit(code);
  if (document !== undefined) expect(JSON.parse(stdout)).toMatchObject(document);
  expect(await listHosts()).toEqual(left);
});

test("what the settings do not keep, with one record in the audit", async () => {
  const old = Date.now() - 100 * DAY;
  const run = { run: "r", host: "h", pid: 1, command: "c", token: "1", enqueuedAt: old, grantedAt: old };
  const runs = [{ ...run, endedAt: old, waited: 0, held: 0, exit: 0 }];
  const put = (key: string, value: object) => cluster.write({ op: "put", key, value: JSON.stringify(value) });
  const countKeys = async () => {
    const [audit, histories] = [keys.audits(), keys.histories()];
    return [(await cluster.store.readRange(audit)).count, (await cluster.store.readRange(histories)).count];
  };
  const { key, rangeEnd } = keys.audits();
  await cluster.write({ op: "delete", key, rangeEnd });
  for (let at = 0; at < 120; at += 1)
    await put(keys.audit(`${formatAuditTime(old)}${String(at).padStart(10, "0")}`), {});
  await put(keys.history("idle"), { v: 1, runs });
  await put(keys.history("nightly"), { v: 1, runs: [{ ...runs[0], endedAt: Date.now() }] });
  await put(keys.audit(`${formatAuditTime(Date.now())}0123456789`), {});
  const kept = await prune("--expired", "--retention-age", "101d", "--yes", "--json");
  expect([kept.code, JSON.parse(kept.stdout)]).toMatchObject([0, { outcome: "nothing", expired: 0 }]);
  const look = await prune("--expired", "--dry-run", "--json");
  expect(JSON.parse(look.stdout)).toMatchObject({ audit: 0, expired: 121 });
  expect(await countKeys()).toEqual([121, 2]);
  const { code, stdout } = await prune("--expired", "--yes", "--json");
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { outcome: "done", expired: 121 }]);
  expect(await countKeys()).toEqual([2, 1]);
});

test("marks of vanished tickets, when their commands cannot be alive", async () => {
  const now = Date.now();
  const ticket = {
    v: 1,
    host: "web9",
    pid: 1,
    user: "root",
    count: 1,
    total: 1,
    state: "held",
    command: "job",
    run: "gone",
    enqueuedAt: now,
    grantedAt: now,
  };
  const put = (key: string, value: object) => ({ op: "put", key, value: JSON.stringify(value) }) as const;
  const [mark, live] = [keys.mark(keys.lock("once", "gone")), keys.lock("live", "here")];
  const kept = [live, keys.mark(live)];
  const puts = [mark, ...kept].map((key) =>
    put(key, { ...ticket, run: kept.includes(key) ? "here" : "gone", ...(key !== live && { ttl: 2 }) }),
  );
  await cluster.write(...puts);
  const { stdout, stderr, code } = await prune("--vanished", "--yes", "--json");
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, vanished: ["gone"] });
  expect(stderr).toContain("waiting until the commands of vanished tickets have ended, at most 2 s");
  const { kvs } = await cluster.store.readRange(keys.locks());
  expect(kvs.map(({ key }) => key).sort()).toEqual(kept.sort());
});
