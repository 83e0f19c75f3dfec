/** The command `waits` on a real etcd. */
import { expect, test } from "vitest";
import { TestCluster } from "../../../../fixtures/cluster/test-cluster.ts";
import { serializeTicket, type Ticket } from "../../../../src/protocol/ticket.ts";
import { ticketWith } from "../../../protocol/samples.ts";

const cluster = TestCluster.startForFile();

test("waits lists the chains", async () => {
  const namespace = await cluster.createTestNamespace("http");
  const { keys } = namespace;
  expect((await namespace.start(["waits"]).ended).stdout).toBe("no run waits\n");
  const put = async (key: string, run: string, ticket: Partial<Ticket>) =>
    await namespace.put(key, serializeTicket(ticketWith({ run, host: `${run[0]}.example.com`, ...ticket })));
  const [a, b, h] = ["a", "b", "h"].map((letter) => letter.repeat(16)) as [string, string, string];
  await put(keys.lock("x", a), a, { state: "held" });
  await put(keys.resource("db", h), h, { state: "held" });
  await put(keys.resource("db", a), a, { state: "waiting" });
  await put(keys.lock("x", b), b, { state: "waiting" });
  const { chains } = JSON.parse((await namespace.start(["waits", "--json"]).ended).stdout);
  expect(chains).toHaveLength(1);
  expect(chains[0].steps).toMatchObject([
    { kind: "lock", name: "x", waiters: 1, first: { run: b }, blockers: [{ run: a, holds: ["lock x"] }] },
    { kind: "resource", name: "db", first: { run: a }, blockers: [{ run: h }], isHeld: true },
  ]);
  const { stdout } = await namespace.start(["waits"]).ended;
  expect(stdout).toMatch(
    /^lock x: 1 run waits\n {2}waits b\.example\.com:\d+ .*\n {2}held by a\.example\.com/,
  );
});
