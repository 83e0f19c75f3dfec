/** The commands `incident` and `waits` on a real etcd. */
import { expect, test } from "vitest";
import { TestCluster } from "../../../../fixtures/cluster/test-cluster.ts";
import { serializeTicket, type Ticket } from "../../../../src/protocol/ticket.ts";
import { ticketWith } from "../../../protocol/samples.ts";

const cluster = TestCluster.startForFile();

test("a report has what happened, the problems then and now, and is refused without a start", async () => {
  const namespace = await cluster.createTestNamespace("http");
  const start = async (...args: string[]) => await namespace.start(args).ended;
  await start("run", "--lock", "x", "--", "true");
  await namespace.put(namespace.keys.lock("broken", "0000000000000001"), "x");
  await start("run", "--lock", "y", "--", "sh", "-c", "exit 3");
  await start("drain", "lock", "x", "--yes", "--reason", "<b>disks</b> [a](http://b.example)");
  const report = JSON.parse((await start("incident", "--from", "1h", "--json")).stdout);
  expect(report.entries.map(({ kind, subject }: Record<string, string>) => `${kind} ${subject}`)).toEqual([
    "granted lock x",
    "ended lock x",
    "granted lock y",
    "failed lock y",
    "drained lock x",
  ]);
  expect(report.problemsAtStart).toEqual([]);
  expect(report.problemsAtEnd).toEqual([expect.stringContaining("lock broken")]);
  const { stdout } = await start("incident", "--from", "1h", "--title", "disks", "--markdown");
  expect(stdout).toMatch(/^# disks\n/);
  expect(stdout).toMatch(/\| drained \| `lock x` \| `by .*<b>disks<\/b> \[a\]\(http:\/\/b.example\)` \|\n/);
  for (const [args, message] of [
    [[], "--from is missing"],
    [["--from", "1h", "--json", "--markdown"], "either --json or --markdown"],
    [["--from", "1h", "--to", "2h"], "--from must be before --to"],
    [["--from", "soon"], 'got "soon"'],
  ] as const)
    expect(await start("incident", ...args)).toMatchObject({
      code: 64,
      stderr: expect.stringContaining(message),
    });
});

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
