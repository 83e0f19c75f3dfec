/** `signalbox doctor` on etcds with all kinds of faults. */

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { buildLogin, SECURED } from "../../../fixtures/etcd/index.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import type { ProcessResult } from "../../../fixtures/signalbox.ts";
import { StoreError } from "../../../src/core/etcd/store.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";
import { listWrittenCollections } from "../../../src/site/check/permissions.ts";

const RUN = "0123456789abcdef";

/** Whether doctor has a hint about the etcd that these tests run on. */
function isUnsound(version: string): boolean {
  const [, minor = 0, patch = 0] = version.split(".").map(Number);
  return patch < ({ 4: 42, 5: 28, 6: 9 }[minor] ?? 0);
}

/** What of a kind was found, level first, the worst first. */
function findDetails({ stdout }: ProcessResult, kind: string): string[] {
  const { findings } = JSON.parse(stdout) as { findings: { kind: string; level: string; detail: string }[] };
  return findings.filter((one) => one.kind === kind).map(({ level, detail }) => `${level}: ${detail}`);
}

async function runDoctor(
  namespace: TestNamespace,
  ...flags: string[]
): Promise<ProcessResult & { found(kind: string): string[] }> {
  const ended = await namespace.execute(["doctor", "--json", ...flags]);
  expect(ended.stderr).toBe("");
  return { ...ended, found: (kind) => findDetails(ended, kind) };
}

describe("a single member", () => {
  const cluster = TestCluster.startForFile();

  test.each(TRANSPORTS)("that is well, over %s: what there is, and nothing is written", async (transport) => {
    const namespace = cluster.createNamespace({ transport });
    expect(await namespace.run("--lock a")).toExit(0);
    const before = (await cluster.store.readRange({ key: "a" })).revision;
    const { code, found: of, stdout } = await runDoctor(namespace);
    expect((await cluster.store.readRange({ key: "a" })).revision).toBe(before);
    const [status] = await cluster.store.readMemberStatuses();
    const version = status?.ok ? status.version : "";
    const isOld = isUnsound(version);
    expect(code).toBe(1); // it has no users
    expect(of("authentication")).toEqual([
      expect.stringMatching(
        /^warning: etcd has no authentication: everybody .* write schedules, which workers run/,
      ),
    ]);
    expect(of("guardian")).toEqual([expect.stringMatching(/^ok: it starts/)]);
    const member = isOld
      ? /^hint: etcd 3\.\d+\.\d+, which is older than 3\.\d+\.\d+, \d+ ms/
      : /^ok: etcd 3\.\d+\.\d+, \d+ ms/;
    expect(of("member")).toEqual([expect.stringMatching(member)]);
    expect(of("transport")).toEqual([
      `ok: ${transport} works; ${transport === "http" ? "grpc" : "http"} works too`,
    ]);
    expect(of("quorum")).toEqual([expect.stringMatching(/^hint: a single member/)]);
    expect(of("leader")).toEqual([expect.stringMatching(/^ok: http:.*, term \d+$/)]);
    expect(of("alarm")).toEqual(["ok: none"]);
    expect(of("space")).toEqual([expect.stringMatching(/^ok: \d+ KiB of 2.0 GiB/)]);
    expect(of("settings")).toEqual([expect.stringMatching(/^ok: 1m,/)]);
    expect(of("permissions")).toEqual([
      expect.stringMatching(/^ok: runs/),
      expect.stringMatching(/^ok: operators/),
    ]);
    expect(of("keys")).toEqual([`ok: 2 under ${namespace.prefix}, 0 of them tickets`]);
    expect(of("clock")).toEqual([expect.stringMatching(/^ok: within 5s/), expect.stringMatching(/^ok/)]);
    expect(JSON.parse(stdout)).toMatchObject({
      version: 1,
      revision: String(before),
      state: "warning",
      figures: { members: 1, members_answering: 1, keys: 2, tickets: 0 },
    });
  });

  test("warnings that are known do not count", async () => {
    const namespace = cluster.createNamespace();
    const known = ["--accept", "authentication"];
    const nagios = await namespace.execute(["doctor", "--nagios", ...known]);
    expect(nagios).toExit(0, { stdout: /^SIGNALBOX OK - .* \(accepted: .*authentication.*\) \|/ });
    const { findings } = await namespace.executeJson(["doctor", ...known]);
    expect(findings).toContainEqual(
      expect.objectContaining({ id: "authentication", level: "warning", accepted: true }),
    );
    const one = await namespace.execute(["doctor", ...known, "--accept", "authentification"]);
    expect(one.stdout).toMatch(/^known {3}authentication: /m);
    expect(one.stdout).toMatch(/^hint {4}--accept authentification: matches no warning now$/m);
    expect((await namespace.execute("init")).stdout).toMatch(/^warning authentication: /m);
    await namespace.put(namespace.keys.resourceConfig("db"), "[]"); // a failure counts, whatever was accepted
    expect(await namespace.execute(["doctor", ...known, "--accept", "malformed"])).toExit(2);
  });

  test("an etcd without users is a failure once a schedule has a command, unless that is intended", async () => {
    const namespace = cluster.createNamespace();
    await namespace.expectDone("schedule add job @daily --timezone UTC -- true");
    const found = (await runDoctor(namespace)).found("authentication");
    expect(found).toEqual([
      expect.stringMatching(/^failure: etcd has no authentication: .*schedules\/job has a command$/),
    ]);
    expect(await namespace.execute("doctor")).toExit(2, { stdout: "run users.sh of signalbox setup etcd" });
    const accepted = await namespace.execute("doctor --accept authentication");
    expect(accepted.stdout).toMatch(/^known {3}authentication: /m);
    expect(accepted.code).not.toBe(2);
  });

  test("for people and for Nagios", async () => {
    const namespace = cluster.createNamespace();
    const plain = await namespace.execute("doctor");
    expect(plain.stdout).toMatch(
      /^ok {6}transport: .*\n(?:.*\n)*ok {6}keys: 0 under .*\n(?:.*\n)*(\d+ warning|fine: )/,
    );
    const { code, stdout } = await namespace.execute("doctor --nagios");
    expect(code).toBe(plain.code);
    expect(stdout).toMatch(
      /^SIGNALBOX (OK|WARNING) - [^|\n]* \| members=1 members_answering=1 db_size=\d+B latency=\d+ms keys=0 tickets=0\n$/,
    );
  });

  test("keys that are wrong: each is named, with what to do", async () => {
    const namespace = cluster.createNamespace();
    const { keys } = namespace;
    const grace = createTicket({ run: RUN, state: "grace", until: 1 });
    for (const [key, value] of [
      [`${namespace.prefix}else`, "1"],
      [keys.lock("torn", RUN), "no ticket"],
      [
        keys.lock("stuck", RUN),
        serializeTicket(createTicket({ run: RUN, state: "held", enqueuedAt: Date.now() })),
      ],
      [keys.lock("over", RUN), serializeTicket(grace)],
      [keys.drain("host", "a.x"), '{"by":"ann","at":1,"until":2}'],
      [keys.resourceConfig("db"), "[]"],
      [keys.group("web"), '["never.example.com"]'],
    ] as const)
      await namespace.put(key, value);
    const { code, found: of } = await runDoctor(namespace);
    expect(code).toBe(2);
    expect(of("malformed")).toEqual([
      "warning: not a key of signalbox",
      expect.stringMatching(/^failure: the ticket .*torn.* cannot be read/),
      expect.stringMatching(/^failure: .* has no total/),
    ]);
    expect(of("orphan")).toHaveLength(2);
    expect(of("overdue")).toEqual([
      expect.stringMatching(/^warning: .* keeps its place after the end of its grace/),
    ]);
    expect(of("drain-ended")).toHaveLength(1);
    expect(of("host")).toEqual([expect.stringMatching(/never.example.com/)]);
  });

  test("clocks: a host that is ahead, and the others' are not", async () => {
    const namespace = cluster.createNamespace();
    await namespace.put(
      namespace.keys.host("fast.example.com"),
      JSON.stringify({ v: 1, seenAt: Date.now() + 3_700_000 }),
    );
    expect((await runDoctor(namespace)).found("clock")).toContainEqual(
      expect.stringMatching(/^warning: it is 1h1m or more ahead of this host's/),
    );
  });

  test("many keys are read in pages", async () => {
    const namespace = cluster.createNamespace();
    const ops = Array.from({ length: 2_000 }, (_, index) => {
      const run = index.toString(36).padStart(16, "0");
      return {
        op: "put" as const,
        key: namespace.keys.resource("db", run),
        value: serializeTicket(createTicket({ run, total: 9 })),
      };
    });
    for (let from = 0; from < ops.length; from += 100) await cluster.write(...ops.slice(from, from + 100));
    const { found: of } = await runDoctor(namespace);
    expect(of("orphan")).toHaveLength(6);
    expect(of("orphan")).toContainEqual("failure: 1995 more of this kind");
  });

  test("settings that leave no room, and a quota of one's own", async () => {
    const namespace = cluster.createNamespace();
    const { code, found: of } = await runDoctor(
      namespace,
      "--ttl",
      "3s",
      "--termination-timeout",
      "1s",
      "--quota",
      "24K",
    );
    expect(of("settings")).toEqual([expect.stringMatching(/^warning: 3s, .*survive an outage of 500ms/)]);
    expect(of("space")).toEqual([expect.stringMatching(/^failure: .* of 24 KiB/)]);
    expect(code).toBe(2);
  });

  test("mistakes: 64 for the command line, 78 for the configuration", async () => {
    const namespace = cluster.createNamespace();
    expect(await namespace.execute("doctor --quota much")).toExit(64, { stdout: "" });
    expect(await namespace.execute("doctor --role king")).toExit(64, { stdout: "" });
    const env = { SIGNALBOX_TERMINATION_TIMEOUT: "1h" };
    expect(await namespace.execute("doctor", { env })).toExit(78, { stdout: "" });
    expect(await namespace.execute("doctor --nagios", { env })).toExit(3, {
      stdout: /^SIGNALBOX UNKNOWN - terminationTimeout/,
    });
  });
});

describe("three members", () => {
  const cluster = TestCluster.startForFile({ size: 3 });
  const [first, second, third] = [0, 1, 2] as const;

  test.each(TRANSPORTS)("all are there; one address alone is worth a hint (over %s)", async (transport) => {
    const { found: of } = await runDoctor(cluster.createNamespace({ transport }));
    expect(of("quorum")).toEqual(["ok: 3 of 3 members answered, 2 are a majority"]);
    expect(of("endpoints")).toEqual([]);
    const one = await runDoctor(
      cluster.createNamespace({ transport, endpoints: [cluster.getMember(first).clientUrl] }),
    );
    expect(one.found("endpoints")).toEqual([
      expect.stringMatching(/^hint: only one address is configured, but the cluster has 3 members/),
    ]);
  });

  test.each(TRANSPORTS)(
    "one is frozen: it is named, and no further member may fail (over %s)",
    async (transport) => {
      cluster.getMember(third).freeze();
      onTestFinished(() => cluster.getMember(third).unfreeze());
      const { code, found: of } = await runDoctor(cluster.createNamespace({ transport }));
      expect(code).toBe(1);
      expect(of("member").filter((one) => /no answer within/.test(one))).toHaveLength(1);
      expect(of("quorum")).toEqual([
        expect.stringMatching(/^warning: 2 of 3 members answered, .*no further member may fail/),
      ]);
      expect(of("keys")).toHaveLength(1);
    },
  );

  test("two are stopped: no majority, and it does not take for ever to say so", async () => {
    await cluster.getMember(second).kill();
    await cluster.getMember(third).kill();
    onTestFinished(async () => {
      await Promise.all([cluster.getMember(second).start(), cluster.getMember(third).start()]);
      await Promise.all(cluster.members.map((one) => one.waitUntilReady()));
    });
    const namespace = cluster.createNamespace({ env: { SIGNALBOX_CONNECT_TIMEOUT: "2s" } });
    const { code, found: of } = await runDoctor(namespace);
    expect(code).toBe(2);
    expect(of("quorum")).toEqual([
      expect.stringMatching(/^failure: 1 of 3 members answered, 2 are a majority/),
    ]);
    expect(of("etcd")).toEqual([
      expect.stringMatching(/^failure: members answer, but the cluster does not serve/),
    ]);
    expect(of("keys")).toEqual([]);
  });
});

describe("no etcd at all", () => {
  const endpoints = ["http://127.0.0.1:1", "http://127.0.0.1:2"];
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.connect(endpoints);
  });
  afterAll(() => cluster?.close());

  test("is critical, and said in a line", async () => {
    const namespace = cluster.createNamespace();
    const { code, found: of } = await runDoctor(namespace);
    expect(code).toBe(2);
    expect(of("etcd")).toEqual([expect.stringMatching(/^failure: none of the 2 members answers/)]);
    expect(of("member")).toHaveLength(2);
    expect(await namespace.execute("doctor --nagios")).toExit(2, {
      stdout: /^SIGNALBOX CRITICAL - .*none of the 2 members answers.* \| members=2 members_answering=0\n$/,
    });
  });
});

describe("the gateway is off", () => {
  const cluster = TestCluster.startForFile({ gateway: false });

  test("auto fails, gRPC works, and all the rest is examined over that", async () => {
    const { code, found: of } = await runDoctor(
      cluster.createNamespace({ env: { SIGNALBOX_TRANSPORT: "auto" } }),
    );
    expect(code).toBe(2);
    expect(of("transport")).toEqual([
      expect.stringMatching(/^failure: http \(auto\) does not work, grpc does: .*gateway is off/),
    ]);
    expect(of("keys")).toHaveLength(1);
    const grpc = await runDoctor(cluster.createNamespace({ transport: "grpc" }));
    expect(grpc.found("transport")).toEqual([expect.stringMatching(/^ok: grpc works; http does not/)]);
  });
});

describe("over TLS", () => {
  const cluster = TestCluster.startForFile({ tls: {}, quotaBytes: 3 * 1024 ** 3 });

  test("quota and clock are read as well", async () => {
    const { found: of } = await runDoctor(
      cluster.createNamespace({ env: { SIGNALBOX_CACERT: cluster.etcd.certificates?.ca ?? "" } }),
    );
    expect(of("transport")).toEqual(["ok: http works; grpc works too"]);
    expect(of("space")).toEqual([expect.stringMatching(/^ok: .* of 3.0 GiB,/)]);
    expect(of("clock")).toContainEqual("ok: within 5s of the member's");
  });

  test("certificates of an unknown authority: no member answers, and the reason is shown", async () => {
    const { code, found: of } = await runDoctor(cluster.createNamespace());
    expect(code).toBe(2);
    expect(of("member")).toEqual([expect.stringMatching(/^warning: .*certificate/)]);
  });
});

describe("a database that is full", () => {
  const cluster = TestCluster.startForFile({ quotaBytes: 2_000_000 });
  beforeAll(async () => {
    await expect(fill(cluster)).rejects.toMatchObject({ kind: "noSpace" });
  });

  test("the alarm, the size against the real quota, and all the rest", async () => {
    const { code, found: of } = await runDoctor(cluster.createNamespace());
    expect(code).toBe(2);
    expect(of("alarm")).toEqual([expect.stringMatching(/^failure: .*NOSPACE: the database is full/)]);
    expect(of("space")).toEqual([expect.stringMatching(/^failure: .* of 1.9 MiB/)]);
    expect(of("permissions")).toHaveLength(2);
    expect(of("keys")).toHaveLength(1);
  });

  test("init says so too, and that nothing can run", async () => {
    expect(await cluster.createNamespace().execute("init")).toExit(78, {
      stdout: /^FAILURE alarms: .*NOSPACE/m,
    });
  });
});

/** Writes until nothing fits any more. @throws StoreError noSpace */
async function fill(cluster: TestCluster): Promise<never> {
  for (let index = 0; ; index += 1) {
    const put = { op: "put" as const, key: `fill/${index}`, value: "x".repeat(200_000) };
    await cluster.write(put);
    if (index > 100) throw new StoreError("invalid", "etcd takes more than its quota");
  }
}

describe("users with too small a role", () => {
  const cluster = TestCluster.startForFile({ auth: SECURED });
  const createNamespaceAs = (user: string) =>
    cluster.createNamespace({
      prefix: "/jobs/",
      env: buildLogin(user),
    });
  beforeAll(async () => {
    const everything = ["locks/", "resources/", "history/", "hosts/", "output/"];
    await cluster.createUserNamespace("runner", everything);
    await cluster.createUserNamespace("older", everything.slice(0, 3));
    await cluster.createUserNamespace("recent", everything.slice(0, 4));
    await cluster.createUserNamespace("reader", []);
    await cluster.etcd.addUser("stranger", {});
    await cluster.createUserNamespace("operator", [""]);
  });

  test.each([
    [
      "runner",
      [],
      /^ok: runs/,
      /^ok: operators: \/jobs\/config\/, \/jobs\/drains\/, \/jobs\/audit\/ cannot be written/,
      false,
    ],
    ["runner", ["--role", "operator"], /^ok: runs/, /^failure: operators/, true],
    [
      "older",
      [],
      /^warning: runs: \/jobs\/hosts\/, \/jobs\/output\/ cannot be written, so this host is missing in the list of hosts/,
      /^ok: operators/,
      false,
    ],
    [
      "recent",
      [],
      /^warning: runs: \/jobs\/output\/ cannot be written, so other hosts see only the end of what its runs write; runs work/,
      /^ok: operators/,
      false,
    ],
    [
      "reader",
      [],
      /^failure: runs: \/jobs\/locks\/, .*\/jobs\/output\/ cannot be written/,
      /^ok: operators/,
      true,
    ],
    ["stranger", [], /^failure: runs: \/jobs\/ cannot be read; \/jobs\/locks\//, /^ok: operators/, true],
  ])("%s %j", async (user, flags, runs, operators, isBad) => {
    const { code, found: of, stdout } = await runDoctor(createNamespaceAs(user), ...flags);
    expect(of("permissions")).toEqual([expect.stringMatching(runs), expect.stringMatching(operators)]);
    // Later etcds tell their status to root only: they are there all the same, and of a version.
    expect(of("member")).toEqual([expect.stringMatching(/^(ok|hint): etcd 3\.\d+\.\d+, /)]);
    expect(of("leader")).toHaveLength(1);
    expect(JSON.parse(stdout).figures).toMatchObject({ members: 1, members_answering: 1 });
    if (isBad) expect(code).toBe(2);
    expect(of("keys").length).toBe(user === "stranger" ? 0 : 1);
  });

  test.each([
    [
      "whole",
      [],
      ["--role", "worker"],
      [/^ok: runs: \/jobs\/locks\/ cannot .* only runs schedules$/, /^ok: workers/],
      0,
    ],
    [
      "earlier",
      ["checkpoints/", "history/"],
      ["--role", "worker"],
      [
        /^ok: runs/,
        /^warning: workers: \/jobs\/checkpoints\/, \/jobs\/history\/ cannot be written, so tasks save no/,
      ],
      1,
    ],
    [
      "broken",
      ["outcomes/"],
      ["--role", "worker"],
      [/^ok: runs/, /^failure: workers: .*schedules do not run$/],
      2,
    ],
    [
      "unasked",
      ["checkpoints/"],
      [],
      [/^failure: runs/, /^warning: workers: \/jobs\/checkpoints\/ cannot/],
      2,
    ],
  ])("a worker whose role is %s, without %j: doctor %j", async (user, without, flags, expected, code) => {
    const written = listWrittenCollections("worker").filter((one) => !without.includes(one));
    await cluster.createUserNamespace(user, written);
    const doctor = await runDoctor(createNamespaceAs(user), ...flags, "--accept", "compaction");
    expect(doctor.found("permissions")).toEqual([
      ...expected.map((one) => expect.stringMatching(one)),
      expect.stringMatching(/^ok: operators/),
    ]);
    const remedies = JSON.parse(doctor.stdout).findings.filter(({ detail }: { detail: string }) =>
      detail.startsWith("workers: /jobs/"),
    );
    for (const { remedy } of remedies)
      expect(remedy).toMatch(
        /readwrite on \/jobs\/.*signalbox setup etcd has the whole role signalbox-worker$/,
      );
    expect(doctor).toExit(code);
  });

  test("a worker that may not read is told what workers lack, and not what runs do", async () => {
    const { code, found, stdout } = await runDoctor(createNamespaceAs("stranger"), "--role", "worker");
    expect(found("permissions")).toEqual([
      expect.stringMatching(
        /^failure: workers: \/jobs\/ cannot be read; \/jobs\/due\/, .* cannot be written, so schedules do not run$/,
      ),
      expect.stringMatching(/^ok: operators/),
    ]);
    expect(stdout).toContain("grant the role read on /jobs/, readwrite on /jobs/due/, ");
    expect(stdout).not.toContain("/jobs/locks/");
    expect(code).toBe(2);
  });

  test.each(TRANSPORTS)("over %s: who may write schedules may run commands on workers", async (transport) => {
    const createFor = (user: string) => {
      const { env } = createNamespaceAs(user);
      return cluster.createNamespace({ prefix: "/jobs/", transport, env });
    };
    const runner = await runDoctor(createFor("runner"));
    expect(runner.found("authentication")).toEqual(["ok: etcd requires authentication, and checks roles"]);
    expect(runner.found("role")).toEqual([]);
    const wide = /this user may write \/jobs\/schedules\/: it can make every worker run any command/;
    const findDetails = async (...flags: string[]) =>
      (await runDoctor(createFor("operator"), ...flags)).found("role");
    expect(await findDetails()).toEqual([expect.stringMatching(new RegExp(`^hint: ${wide.source}`))]);
    expect(await findDetails("--role", "operator")).toEqual([
      expect.stringMatching(new RegExp(`^ok: ${wide.source}`)),
    ]);
  });

  test("credentials that are refused are no member's fault", async () => {
    const { code, found: of } = await runDoctor(createNamespaceAs("nobody-else"));
    expect(code).toBe(2);
    expect(of("etcd")).toEqual(["failure: etcd refuses the credentials: nothing else could be checked"]);
  });
});
