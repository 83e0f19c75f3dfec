/** The contexts of a configuration in a real terminal: two etcds, an address where nothing listens, and back. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { openTerminal, type Terminal } from "../../../fixtures/console.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";

const [one, two] = [TestCluster.startForFile(), TestCluster.startForFile()];
const NOWHERE = "http://127.0.0.1:9";

interface Site {
  first: TestNamespace;
  second: TestNamespace;
  path: string;
  open(options?: { env?: Record<string, string>; args?: string[] }): Terminal;
}

async function createSite(context: Parameters<TestCluster["createTestNamespace"]>[1]): Promise<Site> {
  const first = await one.createTestNamespace("http", context);
  const second = await two.createTestNamespace("http", context);
  const folder = mkdtempSync(join(tmpdir(), "signalbox-contexts-"));
  first.onClose(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "config.json");
  const toContext = ({ etcd, prefix }: TestNamespace) => ({ endpoints: [etcd.clientUrl], prefix });
  const contexts = {
    prod: toContext(first),
    staging: { ...toContext(second), readOnly: true },
    dead: { endpoints: [NOWHERE] },
    broken: { endpoints: ["https://127.0.0.1:9"], cert: "cert.pem" },
  };
  writeFileSync(path, JSON.stringify({ context: "prod", transport: "http", contexts }));
  const open: Site["open"] = ({ env = {}, args = [] } = {}) => {
    const terminal = openTerminal({
      columns: 140,
      rows: 44,
      args: ["console", "-c", path, "--view", "locks", ...args],
      env,
    });
    first.onClose(() => terminal.close());
    return terminal;
  };
  return { first, second, path, open };
}

/** Holds a lock in a namespace. */
async function hold(namespace: TestNamespace, lock: string) {
  const run = await namespace.jobs.startHolder(lock, ["--lock", lock]);
  namespace.onClose(() => run.kill("SIGKILL"));
}

async function choose(terminal: Terminal, name: string) {
  await terminal.pressAndWait(":", "palette");
  await terminal.typeAndWait(`ctx ${name}`, new RegExp(`ctx ${name} +cluster`));
  terminal.press("enter");
}

const HEADER = (name: string) => new RegExp(`signalbox +${name} `);

describe("contexts in the console", () => {
  it("shows the active one, switches by the palette, marks one that is read-only, and goes back", async (context) => {
    const { first, second, open } = await createSite(context);
    await hold(first, "ours");
    await hold(second, "theirs");
    const terminal = open();
    await terminal.waitFor(/ours +.*held/);
    await terminal.waitFor(HEADER("prod"));
    await choose(terminal, "staging");
    await terminal.waitFor(/theirs +.*held/);
    await terminal.waitFor(HEADER("staging"));
    const screen = terminal.getText();
    expect(screen).toContain("READ-ONLY");
    expect(screen).not.toContain("ours");
    await terminal.pressAndWait("X", "read-only");
    await terminal.pressAndWait("c", "copied");
    expect(terminal.clipboard.at(-1)).toBe("signalbox show lock theirs --context staging");
    await choose(terminal, "prod");
    await terminal.waitFor(/ours +.*held/);
    expect(terminal.getText()).not.toContain("READ-ONLY");
    terminal.press("q");
    expect(await terminal.ended).toExit(0);
    expect(terminal.leftBehind).toEqual([]);
  });

  it("shows why a dead one cannot be read, and goes back; one that cannot be used is refused", async (context) => {
    const { first, open } = await createSite(context);
    await hold(first, "ours");
    const terminal = open();
    await terminal.waitFor(/ours +.*held/);
    await choose(terminal, "broken");
    await terminal.waitFor("cert is set");
    await terminal.waitFor(HEADER("prod"));
    await choose(terminal, "dead");
    await terminal.waitFor(HEADER("dead"));
    await terminal.waitFor("connection refused");
    expect(terminal.getText()).toMatch(/endpoints: http:\/\/127.0.0.1:9 +\(context dead of /);
    expect(terminal.getText()).not.toContain("ours");
    await choose(terminal, "prod");
    await terminal.waitFor(/ours +.*held/);
  });

  it("lists them in the explorer with their state, and Enter switches", async (context) => {
    const { second, open } = await createSite(context);
    await hold(second, "theirs");
    const terminal = open();
    await terminal.waitFor(/live rev \d+/);
    await terminal.waitFor(/Clusters +4/);
    await terminal.waitFor(/prod +shown/);
    await terminal.waitFor(/staging +ro ●1/);
    await terminal.waitFor(/dead +away/);
    terminal.press("1", "G", "up", "up", "up"); // past etcd, broken and dead
    await terminal.waitFor("Enter open");
    await terminal.pressAndWait("enter", /theirs +.*held/, /staging +ro shown/);
  });

  it("counts what is in the others, and follows", async (context) => {
    const { second, open } = await createSite(context);
    const run = await second.jobs.startHolder("a", "--lock theirs");
    second.onClose(() => run.kill("SIGKILL"));
    const terminal = open();
    await terminal.waitFor(/staging +ro ●1/);
    await second.put(
      second.keys.lock("theirs", "w".repeat(16)),
      serializeTicket(createTicket({ run: "w".repeat(16) })),
    );
    await terminal.waitFor(/staging +ro ●1 ◌1/);
    await second.put(second.keys.lock("broken", "0000000000000001"), "no ticket");
    await terminal.waitFor(/▲ staging +ro ●1 ◌\d ▲\d/);
  });

  it("does not read a very large one", async (context) => {
    const { second, open } = await createSite(context);
    await hold(second, "theirs");
    for (let from = 0; from < 20_000; from += 100)
      await second.write(
        ...Array.from({ length: 100 }, (_, at) => ({
          op: "put" as const,
          key: second.keys.audit(`many-${from + at}`),
          value: "x",
        })),
      );
    const terminal = open();
    await terminal.waitFor(/stag\S* +ro 2\d{4} keys/);
  });

  it("refuses a switch that a variable would lead to another cluster", async (context) => {
    const { first, open } = await createSite(context);
    const terminal = open({ env: { SIGNALBOX_ENDPOINTS: first.etcd.clientUrl } });
    await terminal.waitFor(/live rev \d+/);
    await choose(terminal, "staging");
    await terminal.waitFor("endpoints of the context staging has no effect");
    await terminal.waitFor(HEADER("prod"));
  });

  it("asks before it leaves jobs that run", async (context) => {
    const { first, second, open } = await createSite(context);
    await hold(first, "ours");
    await hold(second, "theirs");
    const terminal = open();
    await terminal.waitFor(/ours +.*held/);
    await terminal.pressAndWait("D", "Enter drain");
    await terminal.pressAndWait("enter", "JOBS 1");
    await choose(terminal, "staging");
    await terminal.waitFor("choose staging again");
    expect(terminal.getText()).toContain("ours");
    await choose(terminal, "staging");
    await terminal.waitFor(/theirs +.*held/);
    expect(terminal.getText()).not.toContain("JOBS 1");
  });
});

it("a command line of several clusters means the one that is named", async (context) => {
  const { first, second, path } = await createSite(context);
  await hold(second, "theirs");
  const env = { SIGNALBOX_ENDPOINTS: "", SIGNALBOX_PREFIX: "", SIGNALBOX_TRANSPORT: "" };
  const list = (more: string[]) => first.execute(["ls", "locks", "-c", path, "--json", ...more], { env });
  expect(JSON.parse((await list([])).stdout).rows).toEqual([]);
  const named = JSON.parse((await list(["--context", "staging"])).stdout);
  expect(named.rows).toMatchObject([{ name: "theirs", state: "held" }]);
  const refused = await first.execute(`drain lock x -c ${path} --context staging --yes`, {
    env,
  });
  expect(refused.stderr).toContain("readOnly is set, nothing was changed");
  const elsewhere = { ...env, SIGNALBOX_ENDPOINTS: first.etcd.clientUrl };
  const warned = await first.execute(`ls -c ${path} --context staging`, { env: elsewhere });
  expect(warned.stderr).toContain(
    "endpoints of the context staging has no effect: environment SIGNALBOX_ENDPOINTS",
  );
  const unknown = await list(["--context", "prd"]);
  expect([unknown.code, unknown.stderr]).toEqual([64, expect.stringContaining("did you mean prod?")]);
});
