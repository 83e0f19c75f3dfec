/** `signalbox etcd put` and `del`: only where it is allowed, only what was shown, once, and with a record. */
import { writeFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { buildLogin } from "../../../fixtures/etcd/index.ts";
import { ETCD_SCHEMA } from "../../../scripts/json-doc.ts";
import { grantOnce } from "../../../src/core/etcd/session/session.ts";
import { findMismatches } from "../support/find-mismatches.ts";
import { listAudits } from "../support/read-keys.ts";
import { matchText } from "../support/request-patterns.ts";

const cluster = TestCluster.startForFile();
const ALLOWED = { SIGNALBOX_ALLOW_EDIT: "yes" };
const TERMINAL = { columns: 120, rows: 30 };

const put = (key: string, value: string) => cluster.write({ op: "put", key, value });

async function read(key: string) {
  return (await cluster.store.readRange({ key, binaryValues: true })).kvs[0];
}

/** Runs a command with --json, and checks that its document is as documented. */
async function act(namespace: TestNamespace, words: readonly string[], code = 0) {
  const ended = await namespace.execute(["etcd", ...words, "--json"]);
  expect(ended).toExit(code);
  const { version: _, ...document } = JSON.parse(ended.stdout);
  expect(findMismatches(ETCD_SCHEMA, { $ref: "#/$defs/etcd put and etcd del" }, document)).toEqual([]);
  return document;
}

let count = 0;
const createKey = () => {
  count += 1;
  return `/foreign/edit${count}`;
};

describe.each(TRANSPORTS)("over %s", (transport) => {
  cluster.test("a key is created, changed and deleted, each with a record that has no values", async () => {
    const namespace = cluster.createNamespace({ transport, env: ALLOWED });
    const key = createKey();
    expect(await act(namespace, ["put", key, '{"a":1}', "--yes"])).toMatchObject({
      outcome: "done",
      action: "put",
      key,
      value: '{"a":1}',
    });
    expect((await read(key))?.value).toBe('{"a":1}');
    const preview = await namespace.execute(["etcd", "put", key, '{"a":2}', "--dry-run"]);
    const { modRevision = 0n } = (await read(key)) ?? {};
    expect(preview).toExit(0, {
      stdout: `"${key}" would be changed\nnow: changed at revision ${modRevision}, version 1\n    {\n  -   "a": 1\n  +   "a": 2\n    }\ndo it with --expect-revision ${modRevision} --yes instead of --dry-run\n`,
    });
    expect((await read(key))?.value, "a preview changes nothing").toBe('{"a":1}');
    expect(
      await namespace.execute([
        "etcd",
        "put",
        key,
        '{"a":2}',
        "--expect-revision",
        String(modRevision),
        "--yes",
      ]),
    ).toExit(0, {
      stdout: `"${key}": changed from 7 bytes to 7 bytes, at revision `,
    });
    expect(await act(namespace, ["put", key, '{"a":2}', "--yes"])).toMatchObject({ outcome: "nothing" });
    expect(await act(namespace, ["put", key, '{"a":2}', "--yes", "--strict"], 1)).toMatchObject({
      outcome: "nothing",
    });
    expect(await act(namespace, ["del", key, "--yes", "--reason", "old"])).toMatchObject({
      outcome: "done",
      action: "delete",
      before: { value: '{"a":2}' },
    });
    expect(await read(key)).toBeUndefined();
    expect(await act(namespace, ["del", key, "--yes"])).toMatchObject({ outcome: "nothing" });
    expect(await listAudits(namespace)).toEqual([
      `put | key ${key} | created with 7 bytes`,
      `put | key ${key} | changed from 7 bytes to 7 bytes`,
      `delete | key ${key} | old | deleted, it had 7 bytes`,
    ]);
    expect(await namespace.execute("ls audit")).toExit(0, {
      stdout: new RegExp(`delete +key ${key} +deleted, it had 7 bytes +old`),
    });
  });

  cluster.test(
    "a value that changes while it is looked at is not overwritten, and both are told",
    async () => {
      const namespace = cluster.createNamespace({ transport, env: ALLOWED });
      const key = createKey();
      await put(key, "mine");
      const asked = namespace.start(["etcd", "put", key, "new"], { terminal: TERMINAL });
      await asked.waitForOutput(`Put "${key}"? [y/N]`);
      await put(key, "theirs");
      asked.child.stdin?.write("y\r");
      expect(await asked.ended).toExit(75, {
        stdout:
          /nothing was done, because something has changed:\s+signalbox: the value that was shown, changed at revision \d+, version 1:\s+signalbox: {3}mine\s+signalbox: the value now, changed at revision \d+, version 2:\s+signalbox: {3}theirs/,
      });
      expect((await read(key))?.value).toBe("theirs");
      expect(await listAudits(namespace)).toEqual([]);
    },
  );

  cluster.test(
    "an answer that is lost is looked for, and nothing is written twice",
    async ({ onTestFinished: finish }) => {
      const namespace = await cluster.createTestNamespace(transport, { onTestFinished: finish });
      const interceptor = await namespace.interceptRequests();
      const key = createKey();
      await put(key, "1");
      const caught = interceptor.interceptNext(matchText('"action":"put"'), "answers");
      const putting = namespace.start(["etcd", "put", key, "2", "--yes"], {
        env: ALLOWED,
        endpoints: [interceptor.endpoint],
      });
      const connection = await caught;
      await expect.poll(async () => (await read(key))?.value).toBe("2");
      connection.reset();
      expect(await putting.ended).toExit(0, { stdout: "changed from 1 byte to 1 byte" });
      expect((await read(key))?.version).toBe(2n);
      expect(await listAudits(namespace)).toHaveLength(1);
    },
  );

  cluster.test("bytes are written as they are, from a file and from standard input", async () => {
    const namespace = cluster.createNamespace({ transport, env: ALLOWED });
    const bytes = `\xef\xbb\xbf${String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte))}\n`;
    const key = `${createKey()}\xff`;
    const input = Buffer.from(bytes, "latin1");
    const file = cluster.createPath("");
    writeFileSync(file, input);
    const encoded = btoa(key);
    expect(await act(namespace, ["put", encoded, "--base64", "--file", file, "--yes"])).toMatchObject({
      keyBase64: encoded,
      valueBase64: btoa(bytes),
    });
    expect((await read(key))?.value).toBe(bytes);
    const other = createKey();
    expect(await namespace.execute(["etcd", "put", other, "-", "--yes"], { input })).toExit(0);
    expect((await read(other))?.value).toBe(bytes);
    expect(await namespace.execute(["etcd", "put", other, "--file", "/none", "--yes"])).toFail(
      74,
      "cannot read /none",
    );
    expect(await namespace.execute(["etcd", "put", other, "--yes"])).toFail(64, "give the value");
    expect(await namespace.execute(["etcd", "put", other, "x", "--file", file])).toFail(64, "give the value");
  });

  cluster.test("a key on a lease stays on it", async () => {
    const namespace = cluster.createNamespace({ transport, env: ALLOWED });
    const key = createKey();
    const session = transport === "http" ? 91n : 92n;
    await grantOnce(cluster.store, session, 600);
    await cluster.write({ op: "put", key, value: "a", session });
    expect(await namespace.execute(["etcd", "put", key, "b", "-n"])).toExit(0, {
      stdout: `it stays attached to lease ${session.toString(16)}, and ends with it`,
    });
    await namespace.expectDone("etcd put", key, "b", "--yes");
    expect(await read(key)).toMatchObject({ value: "b", session });
  });
});

describe("the revision that was shown", () => {
  cluster.test(
    "is compared: a key that was changed, deleted or created since is left alone",
    async ({ namespace }) => {
      const key = createKey();
      const { revision } = await put(key, "shown");
      await put(key, "now");
      const expected = ["--expect-revision", String(revision), "--yes", "--allow-edit"];
      expect(await act(namespace, ["put", key, "x", ...expected], 75)).toMatchObject({
        outcome: "changed",
        before: { value: "shown" },
        now: { value: "now" },
        value: "x",
      });
      await cluster.write({ op: "delete", key });
      expect(await namespace.execute(["etcd", "del", key, ...expected])).toFail(
        75,
        "the value now: there is no such key",
      );
      const other = createKey();
      await put(other, "new");
      expect(await namespace.execute(["etcd", "put", other, "x", ...expected])).toFail(
        75,
        "the value that was shown: there is no such key",
      );
      expect(
        await namespace.execute([
          "etcd",
          "put",
          other,
          "x",
          "--expect-revision",
          "99999999",
          "--yes",
          "--allow-edit",
        ]),
      ).toFail(64, "must not be in the future");
      expect((await read(other))?.value).toBe("new");
      const { revision: compacted } = await put(createKey(), "");
      await cluster.etcd.runEtcdctl("compact", String(compacted));
      expect(
        await namespace.execute([
          "etcd",
          "put",
          other,
          "x",
          "--expect-revision",
          "1",
          "--yes",
          "--allow-edit",
        ]),
      ).toFail(75, "etcd no longer has the value that was shown");
      expect(
        await namespace.execute(["etcd", "put", key, "x", "--expect-revision", "1", "--yes", "--allow-edit"]),
      ).toFail(75, "it is not known whether the key was deleted since");
    },
  );
});

describe("an edit is refused", () => {
  cluster.test("unless it is allowed, by a flag, a variable or the context", async ({ namespace }) => {
    const key = createKey();
    await put(key, "old");
    const line = ["etcd", "put", key, "new", "--yes"];
    const refusal =
      "add --allow-edit to the command, or set allowEdit to true in the configuration of this context";
    expect(await namespace.execute(line)).toFail(77, refusal);
    expect(await namespace.execute(["etcd", "del", key, "--yes"])).toFail(77, refusal);
    const configure = (settings: object) =>
      cluster.createPath(
        JSON.stringify({
          contexts: { prod: { endpoints: [...cluster.endpoints], prefix: namespace.prefix, ...settings } },
        }),
      );
    const open = configure({ allowEdit: true });
    const closed = configure({});
    expect(await namespace.execute([...line, "--config", closed, "--context", "prod"])).toFail(77, refusal);
    expect((await read(key))?.value).toBe("old");
    await namespace.expectDone(...line, "--config", open, "--context", "prod");
    expect((await read(key))?.value).toBe("new");
    expect(await namespace.execute([...line, "--allow-edit", "--dry-run"])).toExit(0, {
      stdout: "has this value already",
    });
    expect(await namespace.execute(["etcd", "put", key, "x", "--dry-run"])).toExit(0, {
      stdout: "would be changed",
    });
  });

  cluster.test("where readOnly is set, and without a terminal or --yes", async ({ namespace }) => {
    const key = createKey();
    const env = { ...ALLOWED, SIGNALBOX_READ_ONLY: "1" };
    expect(await namespace.execute(["etcd", "put", key, "x", "--yes"], { env })).toFail(
      77,
      "readOnly is set, nothing was changed",
    );
    expect(await namespace.execute(["etcd", "put", key, "x"], { env: ALLOWED })).toExit(64, {
      stderr: "cannot ask for confirmation",
    });
    expect(await read(key)).toBeUndefined();
  });

  cluster.test(
    "under signalbox's own prefix, always, and the right command is named",
    async ({ namespace }) => {
      const { keys } = namespace;
      await put(keys.group("web"), '["a"]');
      const RUN = "0123456789abcdef";
      for (const [key, what, command] of [
        [keys.group("web"), "group web", "signalbox group set"],
        [keys.lock("x", RUN), `ticket for lock x of run ${RUN}`, "signalbox reset, signalbox release"],
        [keys.schedule("s"), "definition of schedule s", "signalbox schedule edit"],
        [keys.drain("host", "h"), "drain of host h", "signalbox drain, signalbox undrain"],
        [`${keys.prefix}stray`, "key that signalbox does not know", "etcdctl"],
      ] as const) {
        const message = `"${key}" is a key of signalbox (${what}), which this command never changes; it is changed by: ${command}`;
        expect(await namespace.execute(["etcd", "put", key, "x", "--yes"], { env: ALLOWED })).toFail(
          77,
          message,
        );
        expect(await namespace.execute(["etcd", "del", key, "--dry-run"], { env: ALLOWED })).toFail(
          77,
          message,
        );
      }
      expect((await read(keys.group("web")))?.value).toBe('["a"]');
    },
  );
});

describe("a user without the permission", () => {
  const secured = TestCluster.startForFile({
    auth: { rootPassword: "r00t", user: "operator", password: "secret", prefix: "/jobs/" },
  });

  secured.test("is told which keys the role must have, and nothing is written", async () => {
    const env = { ...ALLOWED, ...buildLogin("operator") };
    await secured.etcd.runEtcdctl("role", "grant-permission", "limited", "read", "/foreign/x");
    const namespace = secured.createNamespace({ prefix: "/jobs/", env });
    expect(await namespace.execute("etcd put /foreign/x 1 --yes")).toFail(
      77,
      'and readwrite on the key "/foreign/x"',
    );
    expect(await namespace.execute("etcd put /foreign/y 1 --yes")).toFail(77, "/foreign/y");
    expect((await secured.store.readRange({ key: "/foreign/x" })).count).toBe(0);
    expect(await listAudits(namespace)).toEqual([]);
  });
});
