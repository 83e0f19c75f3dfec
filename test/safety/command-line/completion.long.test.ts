/** Completions in real shells, against a real etcd. */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { startEtcd } from "../../../fixtures/etcd/index.ts";
import { isInstalled, SHELLS, ShellSession } from "../../../fixtures/process/shell-session.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { NO_STATE, startSignalbox } from "../../../fixtures/signalbox.ts";
import { startStopwatch } from "../../../fixtures/steady.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";

const cluster = TestCluster.startForFile();

/** With a ticket in the queue of each of these locks, and a few things beside. */
async function createSampleNamespace(...locks: string[]) {
  const namespace = await cluster.createTestNamespace();
  const { keys } = namespace;
  const ticket = createTicket({ state: "held" });
  const values = [
    ...locks.map((name) => [keys.lock(name, ticket.run), serializeTicket(ticket)] as const),
    [keys.resourceConfig("database"), '{"total":10}'] as const,
    [keys.group("web"), '{"members":[]}'] as const,
    [keys.drain("host", "web1.example.com"), "{}"] as const,
  ];
  const success = values.map(([key, value]) => ({ op: "put" as const, key, value }));
  await namespace.write(...success);
  return namespace;
}

const buildEnv = (namespace: TestNamespace) => ({
  SIGNALBOX_ENDPOINTS: namespace.etcd.clientUrl,
  SIGNALBOX_PREFIX: namespace.keys.prefix,
});

function openShellSession(env: Record<string, string>) {
  const session = new ShellSession(env);
  onTestFinished(() => session.remove());
  return session;
}

/** More time than anybody has who types, for machines that do much else. */
const buildTimeoutEnv = (time = "20s") => ({ SIGNALBOX_COMPLETION_TIMEOUT: time });

const complete = async (words: readonly string[], env: Record<string, string> = {}) =>
  await startSignalbox(["__complete", "--", ...words], { env: { ...buildTimeoutEnv(), ...env } }).ended;

describe.each(SHELLS.map((shell) => ({ shell, isThere: shell === "bash" || isInstalled(shell) })))(
  "somebody who types in $shell",
  ({ shell, isThere }) => {
    it.skipIf(!isThere)("gets commands, flags, choices, files, and names from etcd", async () => {
      const namespace = await createSampleNamespace(
        "invoices",
        "my lock",
        "it's",
        "a:b:c",
        "root@db",
        "größe",
      );
      const session = openShellSession(buildEnv(namespace));
      writeFileSync(join(session.home, "settings.json"), "{}");
      const typed = {
        "signalbox rese\t-n": ["reset", "-n"],
        "signalbox group se\tx": ["group", "set", "x"],
        "signalbox ls pro\t--wat\t": ["ls", "problems", "--watch"],
        "signalbox reset lock in\t--dry\t": ["reset", "lock", "invoices", "--dry-run"],
        "signalbox run --lock=in\t": ["run", "--lock=invoices"],
        "signalbox run --lease da\t2": ["run", "--lease", "database=2"],
        "signalbox run -g w\t": ["run", "-g", "web"],
        "signalbox undrain ho\tw\t": ["undrain", "host", "web1.example.com"],
        "signalbox why my\t": ["why", "my lock"],
        'signalbox why "my\t': ["why", "my lock"],
        "signalbox why it\t": ["why", "it's"],
        "signalbox why a:\t": ["why", "a:b:c"],
        "signalbox why root@\t": ["why", "root@db"],
        "signalbox why gr\t": ["why", "größe"],
        "signalbox config -c set\t": ["config", "-c", "settings.json"],
        "signalbox config --config=set\t": ["config", "--config=settings.json"],
        "signalbox run --lock x -- touc\tset\t": ["run", "--lock", "x", "--", "touch", "settings.json"],
      };
      expect(await session.type(shell, Object.keys(typed))).toEqual(Object.values(typed));
    });

    it.skipIf(!isThere)("has nothing executed by a name, whatever it is; it is put in as it is", async () => {
      const evil = [
        "1$(touch pwned)",
        "2`touch pwned`",
        "3;touch pwned",
        "4'\"$(touch pwned)",
        "5!!&|<>",
        "6 \\$(touch pwned)",
        "7*?[x]{a,b}~#",
        "8|touch pwned",
      ];
      const namespace = await createSampleNamespace(...evil, "9hidden\u202e\u200b", ":files", "--yes");
      const session = openShellSession(buildEnv(namespace));
      const plain = evil.map((_, index) => `signalbox reset lock ${index + 1}\t`);
      // In double quotes zsh cannot be kept from recalling lines at `!`: nobody is hurt, but the name is another.
      const within = evil.flatMap((name, index) =>
        name.includes("!") ? [] : [`signalbox reset lock "${index + 1}\t`],
      );
      const found = await session.type(shell, [
        ...plain,
        ...within,
        "signalbox reset lock 9\t",
        "signalbox reset lock :\t",
      ]);
      const named = [...evil, ...evil.filter((name) => !name.includes("!")), "9", ":files"];
      expect(found).toEqual(named.map((name) => ["reset", "lock", name]));
      expect(readdirSync(session.home)).not.toContain("pwned");
    });
  },
);

describe("bash's function", () => {
  const listOffers = (line: string, env: Record<string, string>) => {
    const session = openShellSession(env);
    const script = `source <(signalbox completion bash); compopt() { :; }
      COMP_LINE=$1; COMP_POINT=\${#1}; _signalbox "\${1%% *}"; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const path = `${join(session.folder, "bin")}:${process.env.PATH}`;
    const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script, "bash", line], {
      env: { ...buildTimeoutEnv(), PATH: path, HOME: session.home, XDG_STATE_HOME: NO_STATE, ...env },
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    return stdout.split("\n").filter(Boolean);
  };

  it("offers all candidates, none of them a flag where a name is meant", async () => {
    const env = buildEnv(await createSampleNamespace("invoices", "inner", "--yes", "my lock"));
    expect(listOffers("signalbox reset lock ", env)).toEqual(["inner", "invoices", "my\\ lock"]);
    expect(listOffers("signalbox reset lock in", env)).toEqual(["inner", "invoices"]);
    expect(
      listOffers("signalbox reset --endpoints http://127.0.0.1:1 lock in", buildTimeoutEnv("1ms")),
    ).toEqual([]);
  });

  it("asks the program on the PATH where the line names an alias, or nothing that is there", async () => {
    const env = buildEnv(await createSampleNamespace("invoices"));
    for (const line of ["sb why in", "~/elsewhere/signalbox why in"])
      expect(listOffers(line, env)).toEqual(["invoices"]);
  });
});

describe("somebody who types", () => {
  let mute: Server;
  let endpoint = "";
  let calls = 0;
  beforeAll(async () => {
    mute = createServer(() => {
      calls += 1; // takes connections, and never says a word
    });
    await new Promise<void>((ready) => mute.listen(0, "127.0.0.1", ready));
    endpoint = `http://127.0.0.1:${(mute.address() as { port: number }).port}`;
  });
  afterAll(() => mute.close());

  it("does not wait for an etcd that is mute or away, nor reads about it", async () => {
    for (const endpoints of [
      [endpoint],
      ["http://127.0.0.1:1"],
      [endpoint, endpoint, "http://127.0.0.1:1"],
    ]) {
      const elapsed = startStopwatch();
      const end = await startSignalbox(["__complete", "--", "reset", "lock", ""], { endpoints }).ended;
      expect(end).toPrint(":words\n");
      // Far beyond the 300 ms that are meant, on a machine that does much else; a call gives up after 6 s.
      expect(elapsed()).toBeLessThan(5_000);
    }
    expect(calls).toBeGreaterThan(0);
  });

  it("gets names from where the line says", async () => {
    const { etcd, keys } = await createSampleNamespace("invoices");
    const words = ["reset", "--endpoints", etcd.clientUrl, `--prefix=${keys.prefix}`, "lock", ""];
    expect(await complete(words)).toMatchObject({ code: 0, stdout: ":words\ninvoices\n" });
    const session = openShellSession({});
    const file = {
      endpoints: ["http://127.0.0.1:1"],
      prefix: keys.prefix,
      logFile: join(session.home, "log"),
    };
    writeFileSync(join(session.home, "c.json"), JSON.stringify(file));
    for (const flag of [
      ["-c", "~/c.json"],
      [`-c${join(session.home, "c.json")}`],
      [`--config=${session.home}/c.json`],
    ])
      expect(
        await complete(["why", ...flag, "--json", "--endpoints", etcd.clientUrl, "in"], {
          HOME: session.home,
        }),
      ).toMatchObject({
        stdout: ":words\ninvoices\n",
      });
    expect(existsSync(join(session.home, "log"))).toBe(false); // nothing is left behind by looking
  });

  it("is not told about mistakes", async () => {
    const { keys, etcd } = await createSampleNamespace("invoices");
    const wrong = {
      SIGNALBOX_ENDPOINTS: etcd.clientUrl,
      SIGNALBOX_PREFIX: keys.prefix,
      SIGNALBOX_TTL: "nonsense",
    };
    for (const words of [
      ["reset", "lock", ""],
      ["ls", "--endpoints", "///", "--host", ""],
      ["run", "--", ""],
      ["x", ""],
      [],
    ])
      expect(await complete(words, wrong)).toExit(0, { stderr: "" });
    const half = ["reset", "--nonsense", "--prefix", keys.prefix, "--ttl=x", "lock", "in"];
    expect(await complete(half, { SIGNALBOX_ENDPOINTS: etcd.clientUrl })).toMatchObject({
      stdout: ":words\ninvoices\n",
    });
  });

  it("is not told that etcd refuses", async () => {
    const auth = { rootPassword: "root", user: "jo", password: "secret", prefix: "/jo/" };
    const etcd = await startEtcd({ auth });
    onTestFinished(() => etcd.stop());
    const words = ["why", "--endpoints", etcd.clientUrl, "--allow-plaintext-password", "--user", "jo"];
    const env = { SIGNALBOX_PASSWORD: "secret", SIGNALBOX_PREFIX: "/others/" };
    const refusals = [
      { words: ["why", "--endpoints", etcd.clientUrl, ""], env: {} }, // nobody
      { words: [...words, ""], env: { ...env, SIGNALBOX_PASSWORD: "wrong" } },
      { words: [...words, ""], env }, // not allowed to read that
    ];
    for (const refusal of refusals) expect(await complete(refusal.words, refusal.env)).toPrint(":words\n");
  });

  it("is not shown the hidden command", async () => {
    expect((await startSignalbox(["help"]).ended).stdout).not.toContain("__complete");
    expect((await complete([""])).stdout).not.toContain("__complete");
  });
});
