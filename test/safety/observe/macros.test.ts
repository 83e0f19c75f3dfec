/** Resources with host macros in their names: `ls resources`, `ls hosts --macros` and `show resource`. */
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const { test } = TestCluster.startForFile();

test("units on this host are summed, computed and listed by host", async ({ namespace }) => {
  await namespace.execute("resource set FQDN_mem int(MEMMB/16)+2 --yes");
  await namespace.jobs.startHolder("one", "--no-lock --lease FQDN_mem=2");

  const { rows } = await namespace.executeJson("ls resources --all");
  const sum = rows.find(({ name }: { name: string }) => name === "FQDN_mem");
  const own = rows.find(({ name }: { name: string }) => name.endsWith("_mem") && name !== "FQDN_mem");
  expect(sum).toMatchObject({ state: "held", used: 2, total: own.total, sum: { hosts: 1, waiting: 0 } });

  const shown = (await namespace.execute("show resource FQDN_mem")).stdout;
  expect(shown).toContain(`resource FQDN_mem: held, 2 of ${own.total} units held`);
  expect(shown).toMatch(
    new RegExp(`${own.total} = int\\(\\d+/16\\)\\+2 +2/${own.total} +#\\.{7} +0 +${own.name}`),
  );
  const detail = (await namespace.execute(["show", "resource", own.name])).stdout;
  expect(detail).toMatch(new RegExp(`total +${own.total} = int\\(\\d+/16\\)\\+2, from FQDN_mem`));

  const { stdout } = await namespace.execute("ls hosts --macros");
  expect(stdout).toMatch(/^HOST .* FQDN_mem /);
  expect(stdout).toContain(` 2/${own.total} `);
  const hosts = await namespace.executeJson("ls hosts --macros");
  expect(hosts.rows[0].shares).toMatchObject([
    { resource: own.name, template: "FQDN_mem", used: 2, total: own.total },
  ]);
  const terminal = { terminal: { columns: 80, rows: 24 } };
  const painted = namespace.start("ls hosts --macros", terminal);
  expect((await painted.ended).stdout).toContain("█░░░░░░░");
  expect(await namespace.execute("ls locks --macros")).toExit(64);
});
