/** The outbox of docs/library.md on a real PostgreSQL: what is committed becomes a job, once, also if a relay dies half-way. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type DataStore, startPostgres } from "../../../fixtures/data-stores.ts";
import { runTool } from "../../../fixtures/run-tool.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import type { Signalbox } from "../../../src/library/index.ts";

const { test } = TestCluster.startForFile();

const PAGE = readFileSync(resolve(import.meta.dirname, "../../../docs/library.md"), "utf8");
const [, SQL = ""] = /^```sql\n(CREATE TABLE outbox.*?)^```$/ms.exec(PAGE) ?? [];
const [, RELAY = ""] = /^```js\n(async function relayOutbox.*?)^```$/ms.exec(PAGE) ?? [];

/** The part of a pool of `pg` that the page uses. */
interface Pool {
  query(sql: string, values?: readonly (readonly number[])[]): Promise<{ rows: unknown[] }>;
}

const relayOutbox = new Function(`return ${RELAY}`)() as (pool: Pool, signalbox: Signalbox) => Promise<void>;

let postgres: DataStore;
beforeAll(async () => {
  postgres = await startPostgres();
}, 600_000);
afterAll(async () => await postgres.stop());

async function runSql(sql: string) {
  const env = { ...process.env, ...postgres.env };
  return await runTool({ env })`psql -v ON_ERROR_STOP=1 -qAtc ${sql}`.text();
}

/** Creates a pool that speaks by psql. @param beforeDelete  called before rows are deleted */
function createPool(beforeDelete: () => void = () => {}): Pool {
  return {
    async query(sql, [ids = []] = []) {
      if (sql.startsWith("SELECT"))
        return { rows: JSON.parse(await runSql(`SELECT coalesce(json_agg(t), '[]') FROM (${sql}) t`)) };
      beforeDelete();
      await runSql(sql.replace("$1", `'{${ids.join(",")}}'`));
      return { rows: [] };
    },
  };
}

test("what is committed becomes one job, also if a relay dies before it deletes", async ({ namespace }) => {
  const [create = "", insert = ""] = SQL.split(";\n");
  await runSql(create);
  await runSql(`BEGIN; ${insert}; COMMIT`);
  await runSql(`BEGIN; ${insert.replace("ann", "nobody")}; ROLLBACK`);
  const dying = await connectLibrary(namespace);
  const dies = createPool(() => {
    throw new Error("the relay dies");
  });
  await expect(relayOutbox(dies, dying)).rejects.toThrow("the relay dies");
  const one = await connectLibrary(namespace);
  const [first] = await one.jobs.list();
  expect(first).toMatchObject({ type: "invoice", data: { to: "ann" }, state: "waiting" });
  expect((await runSql("SELECT count(*) FROM outbox")).trim()).toBe("1");
  await runSql(insert.replace("ann", "bea"));
  const relay = relayOutbox(createPool(), one).catch((error: unknown) => error);
  await waitUntil(
    "the outbox is empty",
    async () => (await runSql("SELECT count(*) FROM outbox")).trim() === "0",
  );
  const jobs = await dying.jobs.list();
  expect(jobs.map(({ id, data }) => [id, data]).sort()).toEqual([
    ["invoice.outbox-1", { to: "ann" }],
    ["invoice.outbox-3", { to: "bea" }],
  ]);
  await one.close();
  expect(await relay).toMatchObject({ code: "CLAIM_LOST" });
});
