import { describe, expect, onTestFinished, test } from "vitest";
import { CampaignCluster } from "../../../fixtures/campaign/cluster.ts";
import { healProxy } from "../../../fixtures/campaign/links.ts";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import type { Terminal } from "../../../fixtures/console.ts";
import { startEtcd } from "../../../fixtures/etcd/index.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import type { Op } from "../../../src/core/protocol/txn.ts";

const shared = TestCluster.startForFile();

/** The line above the tables about etcd itself, and what it says of the members. */
const MEMBERS = /Members +Sessions +Users +\d\/\d/;

/** Opens a console and in it the members of etcd. */
async function openEtcd(namespace: TestNamespace, options: Parameters<typeof openConsole>[1] = {}) {
  const terminal = await openConsole(namespace, options);
  await terminal.pressAndWait("M", MEMBERS);
  return terminal;
}

/** Opens the tree of the keys with a prefix. */
async function browse(terminal: Terminal, prefix: string) {
  await terminal.pressAndWait("B", "keys in etcd");
  await findKeys(terminal, prefix);
}

async function findKeys(terminal: Terminal, prefix: string) {
  await terminal.pressAndWait("/", "show keys with a prefix");
  terminal.press("ctrl+u");
  terminal.type(prefix);
  await terminal.pressAndWait("enter", new RegExp(`keys ${prefix}.*at revision`));
}

/** Opens the value of the only key with a prefix. */
async function openKey(terminal: Terminal, prefix: string) {
  await findKeys(terminal, prefix);
  await terminal.pressAndWait("enter", "created at revision");
}

describe("three members", () => {
  const cluster = TestCluster.startForFile({ size: 3 });

  test("one stopped and an alarm are told by the members, the explorer and the problems", async () => {
    const namespace = cluster.createNamespace();
    const options = { endpoints: cluster.endpoints, columns: 200 };
    const terminal = await openEtcd(namespace, options);
    await terminal.waitFor(/Users +3\/3, revision \d+/);
    await terminal.waitFor(/m\d +● leader/);
    await terminal.waitFor(/quota 2\.0 GiB|in use \d+ KiB/); // the detail
    const problems = await openConsole(namespace, {
      ...options,
      view: "problems",
      shows: "none of etcd itself",
    });
    await cluster.getMember(2).kill();
    await terminal.waitFor(/Users +2\/3/);
    await terminal.waitFor(/m3 +▲ unreachable/);
    await cluster.etcd.setAlarm("ACTIVATE");
    await terminal.waitFor(/m1 .*NOSPACE/);
    await terminal.pressAndWait("/", "filter members");
    await terminal.typeAndWait("state:unreachable", /filter state:unreachable: 1[\s\S]*m3 +▲ unreachable/);
    await terminal.pressAndWait("escape [", /etcd +NOSPACE/);
    await terminal.pressAndWait("1 G enter", /Users +2\/3/);
    await problems.waitFor(
      /▲ 3 problems[\s\S]*▲ failure +alarms +memberID[\s\S]*◌ warning +member http[\s\S]*quorum +2 of 3/,
    );
    const rows = (await namespace.executeJson("ls problems", options)).rows;
    expect(rows.map(({ kind }: { kind: string }) => kind)).toEqual(["alarm", "member", "quorum"]);
    await problems.pressAndWait("enter", /Users +2\/3/);
    problems.press("<");
    await cluster.etcd.setAlarm("DEACTIVATE");
    await cluster.getMember(2).restart();
    await problems.waitFor("none of etcd itself");
  });
});

test("a member that lags is a problem until it has caught up, and a row with the number of missing entries", async () => {
  const campaign = await CampaignCluster.start();
  onTestFinished(() => campaign.stop());
  const cluster = await TestCluster.connect(campaign.clientUrls);
  onTestFinished(() => cluster.close());
  const namespace = cluster.createNamespace();
  const options = { endpoints: campaign.clientUrls, columns: 200, view: "problems" };
  const terminal = await openConsole(namespace, options);
  await terminal.waitFor("none of etcd itself");
  const cut = ((await campaign.findLeader()) + 1) % 3;
  const links = [0, 1, 2].flatMap((other) =>
    other === cut ? [] : campaign.links.cut(campaign.ids, cut, other, "refused"),
  );
  for (const link of links) link.reset();
  const op: Op = { op: "put", key: "x", value: "" };
  for (let turn = 0; turn < 11; turn += 1) {
    const writes = Array.from({ length: 100 }, () => cluster.write(op));
    await Promise.all(writes);
  }
  // The column KIND gives way when the member also misses its leader.
  await terminal.waitFor(new RegExp(`member ${campaign.clientUrls[cut]} +1\\d+ log entries behind`));
  await terminal.pressAndWait("enter", /LAG[\s\S]*▲ leaderless .* 1[1-9]\d\d /);
  terminal.press("<");
  for (const link of links) healProxy(link, "reset");
  await terminal.waitFor("none of etcd itself");
});

describe("one member", () => {
  const { test: inNamespace } = shared;

  inNamespace("shows sessions, those that end soonest first, with their keys", async ({ namespace }) => {
    await namespace.jobs.startAndWait("invoices", "--lock invoices", { hold: [60_000] });
    const terminal = await openEtcd(namespace);
    await terminal.pressAndWait("]", /Users +\d+[\s\S]*LEFT ▲[\s\S]* run +\S+:\d+ /);
    await terminal.pressAndWait("D", "only locks, resources, hosts and groups can be drained");
    await terminal.pressAndWait("enter", /raw [0-9a-f]+[\s\S]*\d+\/\d+ +\/\S+/);
    await terminal.pressAndWait("escape ]", "authentication is off");
  });

  inNamespace("requests nothing in other tabs, and says that an answer is late", async ({ namespace }) => {
    const proxy = await FaultProxy.start(namespace.etcd.clientUrl);
    namespace.onClose(() => proxy.close());
    const count = async () => {
      const text = await (await fetch(`${namespace.etcd.clientUrl}/metrics`)).text();
      const lines = text.matchAll(
        /^grpc_server_started_total\{.*grpc_method="(?:LeaseLeases|MemberList|UserList)".*\} (\d+)$/gm,
      );
      return [...lines].reduce((sum, [, number]) => sum + Number(number), 0);
    };
    const terminal = await openEtcd(namespace, { endpoints: [proxy.url] });
    const before = await count();
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    const open = await count();
    expect(open).toBeGreaterThan(before);
    proxy.mode = "drop";
    await terminal.waitFor(/Users .*(no answer|cannot be read|0\/1)/);
    proxy.mode = "forward";
    await terminal.waitFor(/Users +1\/1, revision \d+(?!.*no answer)/);
    await terminal.pressAndWait("[", () => !MEMBERS.test(terminal.getText()));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const closed = await count();
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    expect(await count()).toBe(closed);
  });

  inNamespace("one screen and plain lines have the members too", async ({ namespace }) => {
    const { stdout } = await namespace.execute("console --once --view members --size 120x40");
    expect(stdout).toMatch(/Users +1\/1, revision \d+[\s\S]*● leader/);
    await openConsole(namespace, {
      args: ["--plain", "--view", "members"],
      shows: /Members, 1\/1, revision .*, row 1 of 1: name .*, state leader/,
    });
  });

  inNamespace(
    "a folder of 100,000 keys is read in parts, and another folder skips it",
    async ({ namespace }) => {
      const ops = Array.from(
        { length: 100_000 },
        (_, at): Op => ({
          op: "put",
          key: `/many/big/k${String(at).padStart(6, "0")}`,
          value: "",
        }),
      );
      for (let at = 0; at < ops.length; at += 100) await namespace.write(...ops.slice(at, at + 100));
      await namespace.put("/many/z", '{"a":1}');
      const terminal = await openEtcd(namespace);
      await browse(terminal, "/many/");
      await terminal.waitFor(/100001 keys[\s\S]*big\/[\s\S]*z /);
      await terminal.pressAndWait("enter", /k000000[\s\S]*k000030/);
      await terminal.pressAndWait("G up", /k000199[\s\S]*more keys follow/);
      await terminal.pressAndWait("enter", /k000399[\s\S]*more keys follow/);
      await namespace.write({ op: "delete", key: "/many/", rangeEnd: "/many0" });
    },
  );

  inNamespace("offers the keys that its row allows, and no others", async ({ namespace }) => {
    await namespace.put("/offers/folder/key", "1");
    const terminal = await openEtcd(namespace, { args: ["--read-only"] });
    const getHints = () => terminal.getScreen().find((line) => line.includes("read again")) ?? "";
    await browse(terminal, "/offers/none");
    await terminal.waitFor("no keys");
    expect(getHints()).not.toMatch(/Enter|copy/);
    await terminal.pressAndWait("y enter r", "no keys");
    expect(terminal.clipboard).toEqual([]);
    await findKeys(terminal, "/offers/");
    await terminal.waitFor(() => /Enter unfold .*y copy/.test(getHints()));
    await terminal.pressAndWait("right down", () => /Enter show value .*y copy/.test(getHints()));
    await terminal.pressAndWait("y", "copied the key");
    expect(terminal.clipboard).toEqual(["/offers/folder/key"]);
    expect(terminal.getText()).not.toMatch(/edit|delete|write/);
  });

  inNamespace("shows JSON indented, binary values as a dump, and what changed", async ({ namespace }) => {
    await namespace.put("/values/json", '{"limit":10}');
    await namespace.put("/values/json", '{"limit":20}');
    await shared.etcd.putBytes("/values/binary", "\x00\xff\x1b]52;");
    const terminal = await openEtcd(namespace);
    await browse(terminal, "/values/");
    await openKey(terminal, "/values/b");
    await terminal.waitFor("00 ff 1b 5d 35 32 3b");
    await terminal.pressAndWait("y", "copied the value in base64");
    expect(terminal.clipboard.at(-1)).toBe(btoa("\x00\xff\x1b]52;"));
    await terminal.pressAndWait("escape", /keys \/values\/b/);
    await openKey(terminal, "/values/j");
    await terminal.waitFor(/- +"limit": 10 .*\n.*\+ +"limit": 20/);
  });

  inNamespace("the command that is copied from a filtered table can be run", async ({ namespace }) => {
    const terminal = await openEtcd(namespace);
    await terminal.pressAndWait("/", "filter members");
    await terminal.typeAndWait("state:leader", "filter state:leader: 1");
    await terminal.pressAndWait("enter c", "copied signalbox etcd members");
    const [, ...words] = terminal.clipboard.at(-1)?.split(" ") ?? [];
    expect(await namespace.execute(words)).toExit(0, { stdout: "leader" });
  });

  inNamespace("says what a key of signalbox is", async ({ namespace }) => {
    await namespace.execute("group set web web1.example.com --yes");
    const terminal = await openEtcd(namespace);
    await browse(terminal, namespace.keys.group("web"));
    await terminal.waitFor("group web");
  });
});

test("a user without the role root sees why there are no users", async () => {
  const auth = { rootPassword: "r00t", user: "jobs", password: "secret", prefix: "/jobs/" };
  const etcd = await startEtcd({ auth });
  onTestFinished(() => etcd.stop());
  const cluster = await TestCluster.connect([etcd.clientUrl], {
    user: "root",
    password: "r00t",
    allowPlaintextPassword: true,
  });
  onTestFinished(() => cluster.close());
  const namespace = cluster.createNamespace({ prefix: "/jobs/" });
  onTestFinished(() => namespace.close());
  const plain = { SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD: "1" };
  const env = { ...plain, SIGNALBOX_USER: auth.user, SIGNALBOX_PASSWORD: auth.password };
  const { endpoints } = cluster;
  const limited = await openEtcd(namespace, { env, endpoints });
  await limited.pressAndWait(
    "] ]",
    /Users +cannot be read: .*permission[\s\S]*etcd does not show them: .*permission/,
  );
  await limited.pressAndWait("B", /cannot be read: .*permission/);
  const root = await openEtcd(namespace, {
    endpoints,
    env: { ...plain, SIGNALBOX_USER: "root", SIGNALBOX_PASSWORD: "r00t" },
  });
  await root.pressAndWait("] ]", /Users +authentication is on[\s\S]*jobs +limited +readwrite \/jobs\/\*/);
});
