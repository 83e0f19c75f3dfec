/** TLS, certificates, passwords and roles, as a user of the command line meets them. */
import { chmodSync, copyFileSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EtcdMember, readClientTls, startEtcd } from "../../fixtures/etcd/index.ts";
import { House, type Room, saying, silently, TRANSPORTS, type Transport } from "./support/house.ts";

const PREFIX = "/jobs/";
const PASSWORD = "s3cret-of-the-runner";
const LOGIN = { rootPassword: "r00t", user: "runner", password: PASSWORD, prefix: PREFIX };

/** What every run must be able to do: run, list, and say that all is well. */
async function works(room: Room): Promise<void> {
  const lock = crypto.randomUUID();
  expect(await room.run(["--lock", lock], ["echo", "ran"]).ended).toEqual({
    ...silently(0),
    stdout: "ran\n",
  });
  const run = room.run(["--lock", lock, "--lease", "db=1:9"], ["sh", "-c", "echo up; exec sleep 1000"]);
  await run.waitForOutput(/up/);
  expect(await room.run(["--lock", lock], ["true"]).ended).toEqual(silently(75));
  const { stdout, code } = await room.ended(["ls"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(`lock +${lock} +held`) });
  const waiter = room.run(["--lock", lock, "--wait", "-v"], ["echo", "ran"]);
  await waiter.waitForOutput(/waiting/);
  run.child.kill("SIGTERM");
  expect(await waiter.ended).toMatchObject({ code: 0, stdout: "ran\n" });
  const init = await room.ended(["init"]);
  expect(init).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/ok +permissions/) });
}

describe.concurrent("TLS with client certificates", () => {
  let etcd: EtcdMember;
  let house: House;
  let env: Record<string, string>;
  beforeAll(async () => {
    etcd = await startEtcd({ tls: { clientCertAuth: true } });
    if (!etcd.certificates) throw new Error("no certificates");
    const { cert, key } = await etcd.certificates.issueClient("someone");
    house = await House.open(etcd.endpoints, { tls: await readClientTls(etcd.certificates, { cert, key }) });
    env = { SIGNALBOX_CACERT: etcd.certificates.ca, SIGNALBOX_CERT: cert, SIGNALBOX_KEY: key };
  });
  afterAll(async () => {
    await house?.close();
    await etcd?.stop();
  });

  test.each(TRANSPORTS)("over %s: run, ls and init work", async (transport) => {
    await works(house.room({ transport, env }));
  });

  test.each(TRANSPORTS)("over %s: etcd without users is told, certificates or not", async (transport) => {
    const { stdout } = await house.room({ transport, env }).ended(["init"]);
    expect(stdout).toMatch(
      /^warning authentication: etcd has no users: everybody with a certificate that it trusts/m,
    );
  });

  test("the certificate's files are not told to the command", async () => {
    const { stdout } = await house.room({ env }).run([], ["env"]).ended;
    expect(stdout).toContain("SIGNALBOX_TOKEN=");
    expect(stdout).not.toMatch(/SIGNALBOX_(CERT|KEY)=/);
  });

  test.each(TRANSPORTS)("over %s: without a certificate, nothing is started", async (transport) => {
    const { SIGNALBOX_CACERT = "" } = env;
    const room = house.room({ transport, env: { SIGNALBOX_CACERT, SIGNALBOX_CONNECT_TIMEOUT: "500ms" } });
    const end = await room.run([], ["echo", "ran"]).ended;
    expect([69, 77]).toContain(end.code);
    expect(end).toMatchObject({
      stdout: "",
      stderr: expect.stringMatching(/^signalbox: lock "echo": the command was not started: .*\n$/),
    });
  });

  test("an authority that is not etcd's: 69, and the certificate is named as the reason", async () => {
    const { SIGNALBOX_CACERT: _, ...others } = env;
    const room = house.room({ env: { ...others, SIGNALBOX_CONNECT_TIMEOUT: "500ms" } });
    expect(await room.run([], ["echo", "ran"]).ended).toEqual(saying(69, /cannot reach etcd.*certificate/));
  });

  test("a key that everybody can read, half of a certificate, a file that is none: 78", async () => {
    const open = house.file();
    copyFileSync(env.SIGNALBOX_KEY ?? "", open);
    chmodSync(open, 0o604);
    const cases: [Record<string, string>, RegExp][] = [
      [{ ...env, SIGNALBOX_KEY: open }, /can be read by everybody; run: chmod/],
      [{ ...env, SIGNALBOX_KEY: "" }, /cert is set .*, but key is not/],
      [{ ...env, SIGNALBOX_CACERT: "/no/such/file" }, /cacert: .*\/no\/such\/file/],
      [{ ...env, SIGNALBOX_CERT: house.file("no PEM") }, /cert/],
    ];
    for (const [settings, message] of cases) {
      expect(await house.room({ env: settings }).run([], ["echo", "ran"]).ended).toEqual(saying(78, message));
    }
  });
});

describe.concurrent("user and password, with a role limited to the prefix", () => {
  let etcd: EtcdMember;
  let house: House;
  beforeAll(async () => {
    etcd = await startEtcd({ auth: LOGIN });
    const root = { user: "root", password: LOGIN.rootPassword, allowPlaintextPassword: true };
    house = await House.open(etcd.endpoints, root);
  });
  afterAll(async () => {
    await house?.close();
    await etcd?.stop();
  });
  const ALLOWED = { SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD: "yes", SIGNALBOX_USER: "runner" };
  const enter = (transport: Transport, env: Record<string, string>, prefix = PREFIX) =>
    house.room({ transport, prefix, env: { ...ALLOWED, ...env } });

  describe.each(TRANSPORTS)("over %s", (transport) => {
    test("run, ls and init work with a password file", async () => {
      await works(enter(transport, { SIGNALBOX_PASSWORD_FILE: house.file(`${PASSWORD}\n`) }));
    });

    test.each([
      ["a wrong password", { SIGNALBOX_PASSWORD: "guess" }, /etcd refused the credentials/],
      [
        "a user that is none",
        { SIGNALBOX_USER: "nobody", SIGNALBOX_PASSWORD: "x" },
        /etcd refused the credentials/,
      ],
      [
        "no login at all",
        { SIGNALBOX_USER: "" },
        /etcd refused the credentials.*set user and passwordFile \(SIGNALBOX_USER, SIGNALBOX_PASSWORD_FILE\)/,
      ],
    ])("%s: 77, and nothing is started", async (_, env, message) => {
      const room = enter(transport, env);
      for (const end of [room.run([], ["echo", "ran"]).ended, room.ended(["ls"]), room.ended(["init"])]) {
        expect(await end).toEqual(saying(77, message));
        expect((await end).stderr).not.toContain("guess");
      }
    });

    test("keys that the role does not allow: 77, and init says what to grant", async () => {
      const room = enter(transport, { SIGNALBOX_PASSWORD: PASSWORD }, "/other/");
      const denied =
        /lock "echo": the command was not started: etcd refused the permission: .*user "runner" needs a role with .* on \/other\/locks\/echo\/\w+.* and \d+ more keys/;
      expect(await room.run([], ["echo", "ran"]).ended).toEqual(saying(77, denied));
      expect(await room.run(["--lease", "db=1:2"], ["echo", "ran"]).ended).toEqual(
        saying(77, /etcd refused the permission/),
      );
      expect(await room.ended(["ls"])).toEqual(saying(77, /etcd refused the permission/));
      const init = await room.ended(["init"]);
      expect(init).toMatchObject({
        code: 77,
        stdout: expect.stringMatching(/FAILURE permissions.*\n.*grant the role/),
      });
    });
  });

  test("no variable with a credential reaches the command", async () => {
    const secrets = {
      SIGNALBOX_PASSWORD: PASSWORD,
      ETCDCTL_USER: `runner:${PASSWORD}`,
      ETCDCTL_PASSWORD: PASSWORD,
    };
    const { code, stdout } = await enter("http", secrets).run([], ["env"]).ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^SIGNALBOX_TOKEN=\d+$/m);
    expect(stdout).not.toContain(PASSWORD);
    expect(stdout).not.toMatch(/^(SIGNALBOX_(USER|PASSWORD|PASSWORD_FILE)|ETCDCTL_(USER|PASSWORD))=/m);
  });

  test("what is refused before etcd is asked: 78, without the password", async () => {
    const cases: [Record<string, string>, RegExp][] = [
      [
        { SIGNALBOX_PASSWORD_FILE: house.file(PASSWORD, 0o644) },
        /other users have access to it \(mode 0644\); run: chmod 600/,
      ],
      [{ SIGNALBOX_PASSWORD_FILE: "/no/such/file" }, /\/no\/such\/file does not exist/],
      [
        { SIGNALBOX_PASSWORD: PASSWORD, SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD: "" },
        /without TLS.*--allow-plaintext-password/,
      ],
      [{}, /user is set .*, but no password/],
    ];
    for (const [env, message] of cases) {
      const end = await enter("http", env).run([], ["echo", "ran"]).ended;
      expect(end).toEqual(saying(78, message));
      expect(end.stderr).not.toContain(PASSWORD);
    }
  });

  test("a password on the command line: 64, and it is not repeated", async () => {
    const room = enter("http", { SIGNALBOX_USER: "" });
    for (const options of [
      ["--user", `runner:${PASSWORD}`],
      ["--password", PASSWORD],
      [`--password=${PASSWORD}`],
    ]) {
      const end = await room.run(options, ["echo", "ran"]).ended;
      expect(end).toEqual(saying(64, /^signalbox: /));
      expect(end.stderr).not.toContain(PASSWORD);
    }
  });
});

/** The commands of docs/etcd.md, for another prefix and user. @param without  a key space that the role does not get */
async function makeRunner(etcd: EtcdMember, user: string, without?: string): Promise<void> {
  const docs = readFileSync(new URL("../../docs/etcd.md", import.meta.url), "utf8");
  const lines = docs.matchAll(/^etcdctl (role .*signalbox-runner.*)$/gm);
  const commands = [...lines].map(([, line = ""]) => line.replaceAll("/signalbox/", PREFIX).split(/ +/));
  const granted = commands.filter((words) => without === undefined || words.at(-1) !== `${PREFIX}${without}`);
  const root = ["--user", `root:${LOGIN.rootPassword}`];
  const named = (words: string[]) => words.map((word) => word.replace("signalbox-runner", `role-of-${user}`));
  for (const words of granted) await etcd.runEtcdctl(...root, ...named(words));
  await etcd.runEtcdctl(...root, "user", "add", `${user}:${PASSWORD}`);
  await etcd.runEtcdctl(...root, "user", "grant-role", user, `role-of-${user}`);
}

describe.concurrent("the role that the documentation gives a runner", () => {
  let etcd: EtcdMember;
  let house: House;
  beforeAll(async () => {
    etcd = await startEtcd({ auth: { ...LOGIN, user: "somebody" } });
    await makeRunner(etcd, "runner");
    await makeRunner(etcd, "older", "hosts/");
    const root = { user: "root", password: LOGIN.rootPassword, allowPlaintextPassword: true };
    house = await House.open(etcd.endpoints, root);
  });
  afterAll(async () => {
    await house?.close();
    await etcd?.stop();
  });
  const enter = (transport: Transport, user: string) =>
    house.room({
      ...{ transport, prefix: PREFIX },
      env: {
        ...{ SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD: "yes", SIGNALBOX_USER: user },
        ...{ SIGNALBOX_PASSWORD: PASSWORD, SIGNALBOX_HOST: `${user}.${transport}.example.com` },
      },
    });

  test.each(TRANSPORTS)("is enough, over %s, and lets hosts be seen", async (transport) => {
    const room = enter(transport, "runner");
    await works(room);
    const { count } = await room.store.readRange({ key: room.keys.host(`runner.${transport}.example.com`) });
    expect(count).toBe(1);
  });

  test.each(TRANSPORTS)(
    "over %s, runs work without hosts/, and init says what to grant",
    async (transport) => {
      const room = enter(transport, "older");
      expect(await room.run(["--lock", "older"], ["echo", "ran"]).ended).toEqual({
        ...silently(0),
        stdout: "ran\n",
      });
      const { stdout } = await room.ended(["init"]);
      expect(stdout).toMatch(/permissions.*\n.*grant the role.*\/jobs\/hosts\//);
    },
  );
});

describe("the identity in a client's certificate", () => {
  let etcd: EtcdMember;
  let house: House;
  beforeAll(async () => {
    etcd = await startEtcd({ tls: { clientCertAuth: true }, auth: LOGIN });
    if (!etcd.certificates) throw new Error("no certificates");
    const root = await readClientTls(etcd.certificates, await etcd.certificates.issueClient("root"));
    house = await House.open(etcd.endpoints, { tls: root, transport: "grpc" });
  });
  afterAll(async () => {
    await house?.close();
    await etcd?.stop();
  });

  test("is the user, and `auto` speaks gRPC for it, as the gateway cannot", async () => {
    const { certificates } = etcd;
    if (!certificates) throw new Error("no certificates");
    const { cert, key } = await certificates.issueClient("runner");
    const env = { SIGNALBOX_CACERT: certificates.ca, SIGNALBOX_CERT: cert, SIGNALBOX_KEY: key };
    const auto = { ...env, SIGNALBOX_TRANSPORT: "auto" };
    await works(house.room({ env: auto, prefix: PREFIX }));
    const init = await house.room({ env: auto, prefix: PREFIX }).ended(["init"]);
    expect(init.stdout).toMatch(/^ok {6}authentication: etcd requires authentication/m);
    const other = await house.room({ env: auto, prefix: "/other/" }).run([], ["echo", "ran"]).ended;
    expect(other).toEqual(saying(77, /etcd refused the permission/));
    const http = house.room({ env: { ...env, SIGNALBOX_CONNECT_TIMEOUT: "500ms" }, prefix: PREFIX });
    expect(await http.run([], ["echo", "ran"]).ended).toEqual(saying(77, /use transport grpc/));
  });
});
