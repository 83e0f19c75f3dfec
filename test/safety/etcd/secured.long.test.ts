/** TLS, certificates, passwords and roles, on the command line. */

import { chmodSync, copyFileSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS, type Transport } from "../../../fixtures/cluster/test-namespace.ts";
import type { EtcdMember } from "../../../fixtures/etcd/index.ts";

const PREFIX = "/jobs/";
const PASSWORD = "s3cret-of-the-runner";
const LOGIN = { rootPassword: "r00t", user: "runner", password: PASSWORD, prefix: PREFIX };

/** What every run must be able to do: run, list, and say that all is well. */
async function expectWorking(namespace: TestNamespace): Promise<void> {
  const lock = crypto.randomUUID();
  expect(await namespace.run(["--lock", lock], "echo ran")).toPrint("ran\n");
  const run = await namespace.startHolder(["--lock", lock, "--lease", "db=1:9"]);
  expect(await namespace.run(["--lock", lock])).toExitSilently(75);
  const { stdout, code } = await namespace.execute("ls");
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(`lock +${lock} +held`) });
  const waiter = namespace.startRun(["--lock", lock, "--wait", "-v"], "echo ran");
  await waiter.waitForOutput("waiting");
  run.kill("SIGTERM");
  expect(await waiter.ended).toMatchObject({ code: 0, stdout: "ran\n" });
  const init = await namespace.execute("init");
  expect(init).toExit(0, { stderr: "", stdout: /ok +permissions/ });
}

/** @returns the variables with which a command is this client */
async function issueIdentity({ etcd: { certificates } }: TestCluster, name: string) {
  if (!certificates) throw new Error("no certificates");
  const { cert, key } = await certificates.issueClient(name);
  return { SIGNALBOX_CACERT: certificates.ca, SIGNALBOX_CERT: cert, SIGNALBOX_KEY: key };
}

describe.concurrent("TLS with client certificates", () => {
  const cluster = TestCluster.startForFile({ tls: { clientCertAuth: true } });
  let env: Record<string, string>;
  beforeAll(async () => {
    env = await issueIdentity(cluster, "someone");
  });

  test.each(TRANSPORTS)("over %s: run, ls and init work", async (transport) => {
    await expectWorking(cluster.createNamespace({ transport, env }));
  });

  test.each(TRANSPORTS)("over %s: etcd without users is told, certificates or not", async (transport) => {
    const { stdout } = await cluster.createNamespace({ transport, env }).execute("init");
    expect(stdout).toMatch(
      /^warning authentication: etcd has no users: everybody with a certificate that it trusts/m,
    );
  });

  test("the certificate's files are not told to the command", async () => {
    const { stdout } = await cluster.createNamespace({ env }).run([], "env");
    expect(stdout).toContain("SIGNALBOX_TOKEN=");
    expect(stdout).not.toMatch(/SIGNALBOX_(CERT|KEY)=/);
  });

  test.each(TRANSPORTS)("over %s: without a certificate, nothing is started", async (transport) => {
    const { SIGNALBOX_CACERT = "" } = env;
    const namespace = cluster.createNamespace({
      transport,
      env: { SIGNALBOX_CACERT, SIGNALBOX_CONNECT_TIMEOUT: "500ms" },
    });
    const end = await namespace.run([], "echo ran");
    expect([69, 77]).toContain(end.code);
    expect(end).toMatchObject({
      stdout: "",
      stderr: expect.stringMatching(/^signalbox: lock "echo": the command was not started: .*\n$/),
    });
  });

  test("an authority that is not etcd's: 69, and the certificate is named as the reason", async () => {
    const { SIGNALBOX_CACERT: _, ...others } = env;
    const namespace = cluster.createNamespace({ env: { ...others, SIGNALBOX_CONNECT_TIMEOUT: "500ms" } });
    expect(await namespace.run([], "echo ran")).toFail(69, /cannot reach etcd.*certificate/);
  });

  test("a key that all users can read, half of a certificate, a file that is no certificate: 78", async () => {
    const open = cluster.createPath();
    copyFileSync(env.SIGNALBOX_KEY ?? "", open);
    chmodSync(open, 0o604);
    const cases: [Record<string, string>, string | RegExp][] = [
      [{ ...env, SIGNALBOX_KEY: open }, "can be read by everybody; run: chmod"],
      [{ ...env, SIGNALBOX_KEY: "" }, /cert is set .*, but key is not/],
      [
        { ...env, SIGNALBOX_CACERT: "/no/such/file" },
        /cacert: \/no\/such\/file cannot be read: no such file or directory \(ENOENT\)$/m,
      ],
      [{ ...env, SIGNALBOX_CACERT: cluster.createPath("no PEM") }, /cacert: .* has no certificate in PEM$/m],
      [{ ...env, SIGNALBOX_CERT: cluster.createPath("no PEM") }, "cert"],
    ];
    for (const [settings, message] of cases) {
      expect(await cluster.createNamespace({ env: settings }).run([], "echo ran")).toFail(78, message);
    }
  });
});

describe.concurrent("user and password, with a role limited to the prefix", () => {
  const cluster = TestCluster.startForFile({ auth: LOGIN });
  const ALLOWED = { SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD: "yes", SIGNALBOX_USER: "runner" };
  const enter = (transport: Transport, env: Record<string, string>, prefix = PREFIX) =>
    cluster.createNamespace({ transport, prefix, env: { ...ALLOWED, ...env } });

  describe.each(TRANSPORTS)("over %s", (transport) => {
    test("run, ls and init work with a password file", async () => {
      await expectWorking(enter(transport, { SIGNALBOX_PASSWORD_FILE: cluster.createPath(`${PASSWORD}\n`) }));
    });

    test.each([
      ["a wrong password", { SIGNALBOX_PASSWORD: "guess" }, "etcd refused the credentials"],
      [
        "a user that is none",
        { SIGNALBOX_USER: "nobody", SIGNALBOX_PASSWORD: "x" },
        "etcd refused the credentials",
      ],
      [
        "no login at all",
        { SIGNALBOX_USER: "" },
        /etcd refused the credentials.*set user and passwordFile \(SIGNALBOX_USER, SIGNALBOX_PASSWORD_FILE\)/,
      ],
    ])("%s: 77, and nothing is started", async (_, env, message) => {
      const namespace = enter(transport, env);
      for (const end of [namespace.run([], "echo ran"), namespace.execute("ls"), namespace.execute("init")]) {
        expect(await end).toFail(77, message);
        expect((await end).stderr).not.toContain("guess");
      }
    });

    test("keys that the role does not allow: 77, and init says what to grant", async () => {
      const namespace = enter(transport, { SIGNALBOX_PASSWORD: PASSWORD }, "/other/");
      const denied =
        /lock "echo": the command was not started: etcd refused the permission: .*user "runner" needs a role with .* on \/other\/locks\/echo\/\w+.* and \d+ more keys/;
      expect(await namespace.run([], "echo ran")).toFail(77, denied);
      expect(await namespace.run("--lease db=1:2", "echo ran")).toFail(77, "etcd refused the permission");
      expect(await namespace.execute("ls")).toFail(77, "etcd refused the permission");
      const init = await namespace.execute("init");
      expect(init).toExit(77, { stdout: /FAILURE permissions.*\n.*grant the role/ });
    });
  });

  test("no variable with a credential reaches the command", async () => {
    const secrets = {
      SIGNALBOX_PASSWORD: PASSWORD,
      ETCDCTL_USER: `runner:${PASSWORD}`,
      ETCDCTL_PASSWORD: PASSWORD,
    };
    const ended = await enter("http", secrets).run([], "env");
    expect(ended).toExit(0, { stdout: /^SIGNALBOX_TOKEN=\d+$/m });
    expect(ended.stdout).not.toContain(PASSWORD);
    expect(ended.stdout).not.toMatch(/^(SIGNALBOX_(USER|PASSWORD|PASSWORD_FILE)|ETCDCTL_(USER|PASSWORD))=/m);
  });

  test("what is refused before etcd is asked: 78, without the password", async () => {
    const cases: [Record<string, string>, string | RegExp][] = [
      [
        { SIGNALBOX_PASSWORD_FILE: cluster.createPath(PASSWORD, 0o644) },
        "other users have access to it (mode 0644); run: chmod 600",
      ],
      [{ SIGNALBOX_PASSWORD_FILE: "/no/such/file" }, "/no/such/file does not exist"],
      [
        { SIGNALBOX_PASSWORD: PASSWORD, SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD: "" },
        /without TLS.*--allow-plaintext-password/,
      ],
      [{}, /user is set .*, but no password/],
    ];
    for (const [env, message] of cases) {
      const end = await enter("http", env).run([], "echo ran");
      expect(end).toFail(78, message);
      expect(end.stderr).not.toContain(PASSWORD);
    }
  });

  test("a password on the command line: 64, and it is not repeated", async () => {
    const namespace = enter("http", { SIGNALBOX_USER: "" });
    for (const options of [
      ["--user", `runner:${PASSWORD}`],
      ["--password", PASSWORD],
      [`--password=${PASSWORD}`],
    ]) {
      const end = await namespace.run(options, "echo ran");
      expect(end).toFail(64, /^signalbox: /);
      expect(end.stderr).not.toContain(PASSWORD);
    }
  });
});

/** The commands of docs/etcd.md, for another prefix and user. @param without  a key space that the role does not get */
async function makeRunner(etcd: EtcdMember, user: string, without?: string): Promise<void> {
  const docs = readFileSync(new URL("../../../docs/etcd.md", import.meta.url), "utf8");
  const lines = docs.matchAll(/^etcdctl (role .*signalbox-runner.*)$/gm);
  const commands = [...lines].map(([, line = ""]) => line.replaceAll("/signalbox/", PREFIX).split(/ +/));
  const granted = commands.filter((words) => without === undefined || words.at(-1) !== `${PREFIX}${without}`);
  const root = ["--user", `root:${LOGIN.rootPassword}`];
  const replaceRole = (words: string[]) =>
    words.map((word) => word.replace("signalbox-runner", `role-of-${user}`));
  for (const words of granted) await etcd.runEtcdctl(...root, ...replaceRole(words));
  await etcd.runEtcdctl(...root, "user", "add", `${user}:${PASSWORD}`);
  await etcd.runEtcdctl(...root, "user", "grant-role", user, `role-of-${user}`);
}

describe.concurrent("the role that the documentation gives a runner", () => {
  const cluster = TestCluster.startForFile({ auth: { ...LOGIN, user: "somebody" } });
  beforeAll(async () => {
    await makeRunner(cluster.etcd, "runner");
    await makeRunner(cluster.etcd, "older", "hosts/");
  });
  const enter = (transport: Transport, user: string) =>
    cluster.createNamespace({
      transport,
      prefix: PREFIX,
      env: {
        SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD: "yes",
        SIGNALBOX_USER: user,
        SIGNALBOX_PASSWORD: PASSWORD,
        SIGNALBOX_HOST: `${user}.${transport}.example.com`,
      },
    });

  test.each(TRANSPORTS)("is enough, over %s, and lets hosts be seen", async (transport) => {
    const namespace = enter(transport, "runner");
    await expectWorking(namespace);
    const { count } = await namespace.store.readRange({
      key: namespace.keys.host(`runner.${transport}.example.com`),
    });
    expect(count).toBe(1);
  });

  test.each(TRANSPORTS)(
    "over %s, runs work without hosts/, and init says what to grant",
    async (transport) => {
      const namespace = enter(transport, "older");
      expect(await namespace.run("--lock older", "echo ran")).toPrint("ran\n");
      const { stdout } = await namespace.execute("init");
      expect(stdout).toMatch(/permissions.*\n.*grant the role.*\/jobs\/hosts\//);
    },
  );
});

describe("the identity in a client's certificate", () => {
  const cluster = TestCluster.startForFile({ tls: { clientCertAuth: true }, auth: LOGIN });

  test("is the user, and `auto` speaks gRPC for it, as the gateway cannot", async () => {
    const env = await issueIdentity(cluster, "runner");
    const auto = { ...env, SIGNALBOX_TRANSPORT: "auto" };
    await expectWorking(cluster.createNamespace({ env: auto, prefix: PREFIX }));
    const init = await cluster.createNamespace({ env: auto, prefix: PREFIX }).execute("init");
    expect(init.stdout).toMatch(/^ok {6}authentication: etcd requires authentication/m);
    const other = await cluster.createNamespace({ env: auto, prefix: "/other/" }).run([], "echo ran");
    expect(other).toFail(77, "etcd refused the permission");
    const http = cluster.createNamespace({
      env: { ...env, SIGNALBOX_CONNECT_TIMEOUT: "500ms" },
      prefix: PREFIX,
    });
    expect(await http.run([], "echo ran")).toFail(77, "use transport grpc");
  });
});
