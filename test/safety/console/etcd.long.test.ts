/** etcd itself in the console: members, alarms, sessions, users; and all keys as a tree, which are edited through previews. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { CampaignCluster } from "../../../fixtures/campaign/cluster.ts";
import { healProxy } from "../../../fixtures/campaign/links.ts";
import { openConsole, pressUntil } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import type { Terminal } from "../../../fixtures/console.ts";
import { startEtcd } from "../../../fixtures/etcd/index.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import type { Op } from "../../../src/protocol/txn.ts";
import { readValue } from "../support/read-keys.ts";

const shared = TestCluster.startForFile();

/** The line above the tables about etcd itself, and what it says of the members. */
const MEMBERS = /Members +Sessions +Users +\d\/\d/;

/** Opens a console and in it the members of etcd. */
async function openEtcd(
  namespace: TestNamespace,
  options: Parameters<typeof openConsole>[1] = {},
): Promise<Terminal> {
  const terminal = await openConsole(namespace, options);
  terminal.press("M");
  await terminal.waitFor(MEMBERS);
  return terminal;
}

/** Opens the tree of the keys with a prefix. */
async function browse(terminal: Terminal, prefix: string): Promise<void> {
  terminal.press("B");
  await terminal.waitFor("keys in etcd");
  await findKeys(terminal, prefix);
}

async function findKeys(terminal: Terminal, prefix: string): Promise<void> {
  terminal.press("/");
  await terminal.waitFor("show keys with a prefix");
  terminal.press("ctrl+u");
  terminal.type(prefix);
  terminal.press("enter");
  await terminal.waitFor(new RegExp(`keys ${prefix}.*at revision`));
}

/** Opens the value of the only key with a prefix. */
async function openKey(terminal: Terminal, prefix: string): Promise<void> {
  await findKeys(terminal, prefix);
  terminal.press("enter");
  await terminal.waitFor(/created at revision/);
}

/** An editor that replaces the text, perhaps after a command. */
function writeEditor(namespace: TestNamespace, text: string, before = ""): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-etcd-"));
  namespace.onClose(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "editor");
  writeFileSync(path, `#!/bin/bash\n${before}\nprintf '%s\\n' '${text}' > "$1"\n`);
  chmodSync(path, 0o755);
  return path;
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
    const problems = await openConsole(namespace, { ...options, view: "problems" });
    await problems.waitFor("none of etcd itself");
    await cluster.getMember(2).kill();
    await terminal.waitFor(/Users +2\/3/);
    await terminal.waitFor(/m3 +▲ unreachable/);
    await cluster.etcd.setAlarm("ACTIVATE");
    await terminal.waitFor(/m1 .*NOSPACE/);
    terminal.press("/");
    await terminal.waitFor("filter members");
    terminal.type("state:unreachable");
    await terminal.waitFor(/filter state:unreachable: 1[\s\S]*m3 +▲ unreachable/);
    terminal.press("escape", "[");
    await terminal.waitFor(/etcd +NOSPACE/);
    terminal.press("1", "G", "enter");
    await terminal.waitFor(/Users +2\/3/);
    await problems.waitFor(
      /▲ 3 problems[\s\S]*▲ failure +alarms +memberID[\s\S]*◌ warning +member http[\s\S]*quorum +2 of 3/,
    );
    const rows = JSON.parse((await namespace.execute("ls problems --json", options)).stdout).rows;
    expect(rows.map(({ kind }: { kind: string }) => kind)).toEqual(["alarm", "member", "quorum"]);
    problems.press("enter");
    await problems.waitFor(/Users +2\/3/);
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
    const writes = Array.from({ length: 100 }, () =>
      cluster.store.commitTxn({ compare: [], success: [op], failure: [] }),
    );
    await Promise.all(writes);
  }
  // The column KIND gives way when the member also misses its leader.
  await terminal.waitFor(new RegExp(`member ${campaign.clientUrls[cut]} +1\\d+ log entries behind`));
  terminal.press("enter");
  await terminal.waitFor(/LAG[\s\S]*▲ leaderless .* 1[1-9]\d\d /);
  terminal.press("<");
  for (const link of links) healProxy(link, "reset");
  await terminal.waitFor("none of etcd itself");
});

describe("one member", () => {
  const { test: inNamespace } = shared;

  inNamespace("shows sessions, those that end soonest first, with their keys", async ({ namespace }) => {
    await namespace.jobs.startAndWait({ name: "invoices", options: ["--lock", "invoices"], hold: [60_000] });
    const terminal = await openEtcd(namespace);
    terminal.press("]");
    await terminal.waitFor(/Users +\d+[\s\S]*LEFT ▲[\s\S]* run +\S+:\d+ /);
    terminal.press("enter");
    await terminal.waitFor(/raw [0-9a-f]+[\s\S]*\d+\/\d+ +\/\S+/);
    terminal.press("escape", "]");
    await terminal.waitFor("authentication is off");
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
    terminal.press("[");
    await terminal.waitFor(() => !MEMBERS.test(terminal.getText()));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const closed = await count();
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    expect(await count()).toBe(closed);
  });

  inNamespace("one screen and plain lines have the members too", async ({ namespace }) => {
    const { stdout } = await namespace.execute("console --once --view members --size 120x40");
    expect(stdout).toMatch(/Users +1\/1, revision \d+[\s\S]*● leader/);
    const plain = await openConsole(namespace, { args: ["--plain", "--view", "members"] });
    await plain.waitFor(/Members, 1\/1, revision .*, row 1 of 1: name .*, state leader/);
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
      for (let at = 0; at < ops.length; at += 100)
        await namespace.store.commitTxn({ compare: [], success: ops.slice(at, at + 100), failure: [] });
      await namespace.put("/many/z", '{"a":1}');
      const terminal = await openEtcd(namespace);
      await browse(terminal, "/many/");
      await terminal.waitFor(/100001 keys[\s\S]*big\/[\s\S]*z /);
      terminal.press("enter");
      await terminal.waitFor(/k000000[\s\S]*k000030/);
      terminal.press("G", "up");
      await terminal.waitFor(/k000199[\s\S]*more keys follow/);
      terminal.press("enter");
      await terminal.waitFor(/k000399[\s\S]*more keys follow/);
      await namespace.store.commitTxn({
        compare: [],
        success: [{ op: "delete", key: "/many/", rangeEnd: "/many0" }],
        failure: [],
      });
    },
  );

  inNamespace("shows JSON indented, binary values as a dump, and what changed", async ({ namespace }) => {
    await namespace.put("/values/json", '{"limit":10}');
    await namespace.put("/values/json", '{"limit":20}');
    const binary: Op = { op: "put", key: "/values/binary", value: "\x00\xff\x1b]52;", binaryValue: true };
    await namespace.store.commitTxn({ compare: [], success: [binary], failure: [] });
    const terminal = await openEtcd(namespace);
    await browse(terminal, "/values/");
    await openKey(terminal, "/values/b");
    await terminal.waitFor("00 ff 1b 5d 35 32 3b");
    terminal.press("y");
    await terminal.waitFor("copied the value in base64");
    expect(terminal.clipboard.at(-1)).toBe(btoa("\x00\xff\x1b]52;"));
    await pressUntil(terminal, "e", /not allowed here: set allowEdit/);
    await openKey(terminal, "/values/j");
    await terminal.waitFor(/- +"limit": 10 .*\n.*\+ +"limit": 20/);
  });

  inNamespace("the command that is copied from a filtered table can be run", async ({ namespace }) => {
    const terminal = await openEtcd(namespace);
    terminal.press("/");
    await terminal.waitFor("filter members");
    terminal.type("state:leader");
    await terminal.waitFor(/filter state:leader: 1/);
    terminal.press("enter", "c");
    await terminal.waitFor("copied signalbox etcd members");
    const [, ...words] = terminal.clipboard.at(-1)?.split(" ") ?? [];
    expect(await namespace.execute(words)).toExit(0, { stdout: /leader/ });
  });

  inNamespace("values are edited, created and deleted after a preview", async ({ namespace }) => {
    await namespace.put("/edit/limit", "10");
    const env = { VISUAL: writeEditor(namespace, "20"), SIGNALBOX_ALLOW_EDIT: "1" };
    const terminal = await openEtcd(namespace, { env });
    await browse(terminal, "/edit/");
    await pressUntil(terminal, "e", /would be changed[\s\S]*- 10[\s\S]*\+ 20[\s\S]*Enter etcd put/);
    terminal.press("enter");
    await terminal.waitFor("changed from 2 bytes to 2 bytes");
    expect(await readValue(namespace, "/edit/limit")).toBe("20");
    await pressUntil(terminal, "n", /etcd put a new key/);
    terminal.type("new");
    await terminal.waitFor("/edit/new");
    terminal.press("tab", "v", "a", "l", "u", "e");
    await terminal.waitFor(/would be created[\s\S]*Enter etcd put/);
    terminal.press("enter");
    await terminal.waitFor(/keys \/edit\/, 2 keys[\s\S]*new /);
    terminal.press("G");
    await pressUntil(terminal, "delete", /would be deleted[\s\S]*Enter etcd del/);
    terminal.press("enter");
    await terminal.waitFor(/keys \/edit\/, 1 keys?/);
    expect(await readValue(namespace, "/edit/new")).toBe("");
  });

  inNamespace(
    "a value that changes while it is edited is not overwritten; the text is kept, and compared with the new one",
    async ({ namespace }) => {
      await namespace.put("/race/limit", "10");
      const put = `node -e 'fetch(process.argv[1], {method:"POST",body:JSON.stringify({key:btoa("/race/limit"),value:btoa("15")})})' ${namespace.etcd.clientUrl}/v3/kv/put`;
      const shown = join(mkdtempSync(join(tmpdir(), "signalbox-etcd-")), "shown");
      namespace.onClose(() => rmSync(dirname(shown), { recursive: true, force: true }));
      const putOnce = `test -e ${shown} || ${put.replace("node", process.execPath)}; echo $(cat "$1") >> ${shown}`;
      const env = { VISUAL: writeEditor(namespace, "20", putOnce), SIGNALBOX_ALLOW_EDIT: "1" };
      const terminal = await openEtcd(namespace, { env });
      await browse(terminal, "/race/");
      await pressUntil(terminal, "e", /the value that was shown[\s\S]*10[\s\S]*the value now[\s\S]*15/);
      terminal.press("enter");
      await terminal.waitFor("not possible with these values");
      expect(await readValue(namespace, "/race/limit")).toBe("15");
      terminal.press("escape");
      await pressUntil(terminal, "e", /would be changed[\s\S]*- 15[\s\S]*\+ 20[\s\S]*Enter etcd put/);
      expect(readFileSync(shown, "utf8")).toBe("10\n20\n");
      expect(await readValue(namespace, "/race/limit")).toBe("15");
      terminal.press("enter");
      await terminal.waitFor("changed from 2 bytes to 2 bytes");
      expect(await readValue(namespace, "/race/limit")).toBe("20");
    },
  );

  inNamespace("keys of signalbox are read-only, and so is a read-only console", async ({ namespace }) => {
    await namespace.execute(["group", "set", "web", "web1.example.com", "--yes"]);
    const env = { SIGNALBOX_ALLOW_EDIT: "1" };
    const terminal = await openEtcd(namespace, { env });
    await browse(terminal, namespace.keys.group("web"));
    await terminal.waitFor("group web");
    await pressUntil(terminal, "delete", /a key of signalbox; changed by: signalbox group set/);
    const readOnly = await openEtcd(namespace, { env, args: ["--read-only"] });
    await browse(readOnly, namespace.keys.group("web"));
    readOnly.press("e");
    await readOnly.waitFor("this console is read-only");
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
  limited.press("]", "]");
  await limited.waitFor(/Users +cannot be read: .*permission[\s\S]*etcd does not show them: .*permission/);
  limited.press("B");
  await limited.waitFor(/cannot be read: .*permission/);
  const root = await openEtcd(namespace, {
    endpoints,
    env: { ...plain, SIGNALBOX_USER: "root", SIGNALBOX_PASSWORD: "r00t" },
  });
  root.press("]", "]");
  await root.waitFor(/Users +authentication is on[\s\S]*jobs +limited +readwrite \/jobs\/\*/);
});
