/** `signalbox group` and `signalbox resource`: the preview names the affected runs, and only these are affected. */

import { describe, expect } from "vitest";
import { readAudits } from "../../../fixtures/cluster/read-keys.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const W1 = "web1.example.com";
const W2 = "web2.example.com";

const readMembers = async (namespace: TestNamespace, name: string): Promise<string[] | undefined> => {
  const value = await namespace.readValue(namespace.keys.group(name));
  return value && JSON.parse(value);
};

const onHost = (host: string, ...options: string[]) => ["-g", "web", "--host", host, ...options];

describe.concurrent.each(TRANSPORTS)("over %s, taking a host out of a group", (transport) => {
  test("names whom it ends, needs a yes, and ends them and nobody else", async ({ onTestFinished }) => {
    const namespace = await cluster.createTestNamespace(transport, { onTestFinished });
    await namespace.expectDone("group set sub", W1);
    await namespace.expectDone("group set web sub", W2);
    const options = ["--termination-timeout", "1s"];
    const one = await namespace.jobs.startHolder("one", onHost(W1, "--lock", "a", ...options));
    const two = await namespace.jobs.startHolder("two", onHost(W2, "--lock", "b"));
    const three = await namespace.jobs.startWaiter("three", onHost(W1, "--lock", "b", "--wait"));
    const before = (await readAudits(namespace)).length;

    const remove = ["group", "remove", "sub", W1];
    const refused = await namespace.execute(remove);
    expect(refused).toExit(64, { stderr: "add --yes to go on" });
    expect(refused.stderr).toContain(`~ group sub: - ${W1}`);
    expect(refused.stderr).toMatch(new RegExp(`ends +${W1}:${one.pid} .*its host leaves group "web"`));
    expect(refused.stderr).toMatch(new RegExp(`evicts +${W1}:${three.pid} `));
    expect(refused.stderr).not.toContain(W2);
    expect(await namespace.executeJson([...remove, "--dry-run"])).toMatchObject({
      version: 1,
      outcome: "dry-run",
      target: "group sub",
      changes: [{ kind: "group", name: "sub", before: [W1], after: [] }],
      hits: [
        { host: W1, pid: one.pid, fate: "ended", exit: 125 },
        { host: W1, pid: three.pid, fate: "leaves", exit: 75 },
      ],
    });
    expect(await readMembers(namespace, "sub")).toEqual([W1]);
    expect(await readAudits(namespace)).toHaveLength(before);

    const told = await namespace.expectDone(...remove, "--yes", "--reason", "new disks");
    expect(told).toContain("this ends 1 running command, evicts 1 waiting run");
    expect([(await one.ended).code, (await three.ended).code]).toEqual([125, 75]);
    expect((await namespace.listTickets()).map(({ ticket }) => ticket?.label)).toEqual(["two"]);
    expect((await readAudits(namespace)).at(-1)).toMatchObject({
      action: "group",
      target: "group sub",
      reason: "new disks",
      outcome: `~ group sub: - ${W1}; ends 1 running command, evicts 1 waiting run`,
    });
    await two.end();
  });
});

describe.concurrent("a group", () => {
  test("is created and grows without a question; what is so already is no change and no record", async ({
    namespace,
  }) => {
    expect(await namespace.expectDone("group set web", W2, W1)).toBe(`+ group web: ${W1}, ${W2}\n`);
    expect(await namespace.expectDone("group set web", W1, W2, W1)).toMatch("is up to date");
    expect(await namespace.expectDone("group add web", W1)).toMatch("is up to date");
    expect(await namespace.expectDone("group remove web db1")).toMatch("is up to date");
    expect(await readAudits(namespace)).toHaveLength(1);
    expect(await namespace.execute(["group", "set", "web", W1, W2, "--strict"])).toExit(1);
    expect(await namespace.expectDone("group add web db1", W1)).toBe("~ group web: + db1\n");
    const typo = await namespace.execute("group add weeb db2");
    expect(typo).toExit(78, { stderr: 'did you mean "web"?' });
    expect(await namespace.execute("group remove web")).toExit(64);
  });

  test("is deleted only after a confirmation; deleting it again is no error", async ({ namespace }) => {
    await namespace.expectDone("group set web", W1);
    await namespace.expectDone("group set all web");
    expect(await namespace.execute("group delete web")).toExit(64);
    const { code, stderr } = await namespace.execute("group delete web --yes");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('group "all" still contains "web", which now counts as a host'),
    });
    expect(await namespace.expectDone("group delete web --yes")).toMatch('group "web" does not exist');
    expect(await namespace.execute("group delete web --yes --strict")).toExit(1);
    expect(JSON.parse(await namespace.expectDone("ls groups --json"))).toMatchObject({
      version: 1,
      revision: expect.stringMatching(/^\d+$/),
      rows: [{ group: "all", members: ["web"] }],
    });
  });

  test("asks at a terminal, and takes nothing but yes for a yes", async ({ namespace }) => {
    await namespace.expectDone("group set web", W1);
    const remove = ["group", "delete", "web"];
    for (const [answer, code] of [
      ["n", 1],
      ["y", 0],
    ] as const) {
      const asked = namespace.start(remove, { terminal: { columns: 80, rows: 24 } });
      await asked.waitForOutput("Change group web? [y/N]");
      asked.child.stdin?.write(`${answer}\r`);
      expect(await asked.ended).toExit(code);
    }
    expect(await readMembers(namespace, "web")).toBeUndefined();
  });

  test("that cannot be read can be set, deleted and listed, not added to in ignorance", async ({
    namespace,
  }) => {
    await namespace.put(namespace.keys.group("web"), "{");
    expect(await namespace.expectDone("ls groups")).toMatch(/^web .* is not a JSON list/m);
    expect(await namespace.execute(["group", "add", "web", W1])).toExit(78, { stderr: "group set" });
    const { stderr } = await namespace.execute(["group", "set", "web", W1]);
    expect(stderr).toContain('group "web" could not be read');
    expect(await readMembers(namespace, "web")).toEqual([W1]);
  });

  test("of operators at once: each is done or refused, and told by whom; nothing is lost", async ({
    namespace,
  }) => {
    await namespace.expectDone("group set web");
    const names = Array.from({ length: 6 }, (_, index) => `h${index}.example.com`);
    const ends = await Promise.all(names.map((name) => namespace.start(["group", "add", "web", name]).ended));
    expect(ends.every(({ code }) => code === 0 || code === 75)).toBe(true);
    const added = names.filter((_, index) => ends[index]?.code === 0);
    expect(await readMembers(namespace, "web")).toEqual(added);
    for (const { stderr } of ends.filter(({ code }) => code === 75)) {
      expect(stderr).toMatch(/something has changed meanwhile:\n.*~ group web: \+ h/);
      expect(stderr).toMatch(/changed by .*@.*: group, group web: ~ group web: \+ h/);
    }
    expect(await readAudits(namespace)).toHaveLength(1 + added.length);
  });

  test("that moved since --expect-revision is refused; another one's moves are no matter", async ({
    namespace,
  }) => {
    await namespace.expectDone("group set web", W1);
    const { revision } = JSON.parse(await namespace.expectDone("ls groups --json"));
    await namespace.expectDone("group set other", W1);
    await namespace.expectDone("group add web", W2, "--expect-revision", revision);
    const late = await namespace.execute(["group", "set", "web", "--expect-revision", revision]);
    expect(late).toExit(75, { stderr: `~ group web: + ${W2}` });
    expect(await readMembers(namespace, "web")).toEqual([W1, W2]);
  });
});

describe.concurrent("a resource", () => {
  test("that shrinks: who asks for more or states another leaves, who holds goes on", async ({
    namespace,
  }) => {
    const { jobs } = namespace;
    await namespace.expectDone("resource set db 10 --note x");
    const buildLeaseOptions = (lease: string) => ["--no-lock", "--lease", lease];
    const holder = await jobs.startHolder("holder", buildLeaseOptions("db=4"));
    const big = await jobs.startWaiter("big", buildLeaseOptions("db=8"));
    const stating = jobs.start("stating", buildLeaseOptions("db=1:10"));
    const small = jobs.start("small", buildLeaseOptions("db=2"));
    await jobs.waitForTickets("stating", "waiting");
    await jobs.waitForTickets("small", "waiting");
    const refused = await namespace.execute("resource set db 6");
    expect(refused).toExit(64);
    expect(refused.stderr.match(/evicts.*/g)).toEqual([
      expect.stringContaining(`:${big.pid} `),
      expect.stringContaining(`:${stating.pid} `),
    ]);
    const told = await namespace.expectDone("resource set db 6 --yes");
    expect(told).toBe("~ resource db: total 10 -> 6\nthis evicts 2 waiting runs\n");
    const codes = [await big.ended, await stating.ended, await small.ended].map(({ code }) => code);
    expect(codes).toEqual([78, 78, 0]);
    expect((await namespace.listTickets()).map(({ ticket }) => ticket?.label)).toEqual(["holder"]);
    expect(await namespace.expectDone("export")).toContain("total: 6\n    note: x\n");
    await holder.end();
  });

  test("keeps what is not given, and asks nobody where nobody is hit", async ({ namespace }) => {
    await namespace.expectDone("resource set db 10 --note x --order 3");
    expect(await namespace.expectDone("resource set db 12")).toBe("~ resource db: total 10 -> 12\n");
    expect(await namespace.expectDone("resource set db --order '' --note ''")).toMatch("order 3 -> none");
    expect(await namespace.expectDone("resource set db 12")).toMatch("is up to date");
    expect(await namespace.execute("resource delete db")).toExit(64);
    expect(await namespace.expectDone("resource delete db --yes")).toBe("- resource db (total 12)\n");
    expect(await namespace.expectDone("resource delete db --yes")).toMatch("is not configured");
  });

  test("without a total is known by name, and runs state the total", async ({ namespace }) => {
    await namespace.expectDone("resource set db --order 1");
    const run = (lease: string) => namespace.jobs.start(lease, ["--no-lock", "--lease", lease]);
    expect(await run("db=1:2").ended).toExit(0);
    expect(await run("db=1").ended).toExit(78, { stderr: "no total" });
  });
});
