/** `signalbox etcd keys` and `get`: keys of any program, whatever bytes they have. */
import { readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { findMismatches } from "../../../fixtures/find-mismatches.ts";
import { ETCD_SCHEMA } from "../../../scripts/json-doc.ts";
import { grantOnce } from "../../../src/core/etcd/session/session.ts";
import type { Op } from "../../../src/core/protocol/txn.ts";

const cluster = TestCluster.startForFile();

const write = (...ops: Op[]) => cluster.write(...ops);
const put = (key: string, value: string): Op => ({ op: "put", key, value });

interface Key {
  key?: string;
  keyBase64?: string;
  value?: string;
  valueBase64?: string;
  size: number;
  modRevision: string;
  lease?: string;
}

/** Reads a document, and checks that it is as documented. */
async function readDocument<T>(namespace: TestNamespace, kind: string, args: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await namespace.execute(["etcd", ...args, "--json"]);
  expect({ code, what: code === 0 ? "" : stderr }).toEqual({ code: 0, what: "" });
  const { version: _, ...document } = JSON.parse(stdout);
  expect(findMismatches(ETCD_SCHEMA, { $ref: `#/$defs/etcd ${kind}` }, document)).toEqual([]);
  return document;
}

/** No byte that a terminal would interpret. */
const SAFE = /^[\n -~\u00a0-\u{10ffff}]*$/u;

describe.each(TRANSPORTS)("over %s", (transport) => {
  const at = `/foreign/${transport}/`;
  const HOSTILE = "\x1b]52;c;eA==\x07\xff\0";

  cluster.test("keys of another program are listed, with sizes, revisions and leases", async () => {
    const namespace = cluster.createNamespace({ transport });
    const session = transport === "http" ? 71n : 72n;
    await grantOnce(cluster.store, session, 600);
    const binary = await cluster.etcd.putBytes(`${at}b\x1b[31m\xff`, HOSTILE);
    const { revision } = await write(put(`${at}a`, '{"b":1,"c":[2]}'), {
      op: "put",
      key: `${at}c`,
      value: "grün",
      session,
    });
    const table = await namespace.execute(["etcd", "keys", at]);
    expect(table).toExit(0, { stdout: /^KEY +SIZE +CHANGED +CREATED +VERSION +LEASE\n/, stderr: "" });
    expect(table.stdout).toMatch(SAFE);
    expect(
      table.stdout
        .split("\n")
        .slice(1, 4)
        .map((line) => line.replaceAll(/ +/g, " ")),
    ).toEqual([
      `${at}a 15 bytes ${revision} ${revision} 1 -`,
      `${at}b\\x1b[31m\\xff ${HOSTILE.length} bytes ${binary} ${binary} 1 -`,
      `${at}c 5 bytes ${revision} ${revision} 1 ${session.toString(16)}`,
    ]);
    const { keys, left } = await readDocument<{ keys: Key[]; left: number }>(namespace, "keys --values", [
      "keys",
      at,
      "--values",
    ]);
    expect({ keys, left }).toMatchObject({
      left: 0,
      keys: [
        { key: `${at}a`, value: '{"b":1,"c":[2]}', size: 15, modRevision: String(revision) },
        { keyBase64: btoa(`${at}b\x1b[31m\xff`), valueBase64: btoa(HOSTILE) },
        { key: `${at}c`, value: "grün", size: 5, lease: session.toString(16) },
      ],
    });
    const text = await namespace.execute(["etcd", "keys", at, "--values"]);
    expect(text).toExit(0, { stdout: '    {\n      "b": 1,\n      "c": [\n        2\n' });
    expect(text.stdout).toMatch(SAFE);
    expect(text.stdout).toContain("    binary, 14 bytes:\n    00000000  1b 5d 35 32");
  });

  cluster.test("pages follow each other, at the revision that is wanted", async () => {
    const namespace = cluster.createNamespace({ transport });
    const page = `/pages/${transport}/`;
    const { revision } = await write(...Array.from({ length: 25 }, (_, k) => put(`${page}${k + 10}`, "")));
    await write({ op: "delete", key: `${page}20` });
    const seen: string[] = [];
    for (let next: string | undefined, left = 1; left > 0; ) {
      const words = ["keys", page, "--limit", "10", "--rev", String(revision)];
      const more = next === undefined ? [] : ["--after", next];
      const document = await readDocument<{ keys: Key[]; left: number; next?: string }>(namespace, "keys", [
        ...words,
        ...more,
      ]);
      seen.push(...document.keys.map(({ key = "" }) => key));
      ({ left, next } = document);
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, k) => `${page}${k + 10}`));
    expect(await namespace.execute(["etcd", "keys", page, "--limit", "3"])).toExit(0, {
      stderr: `note: 21 more keys follow; the next page: --after ${page}12`,
    });
    expect(await namespace.execute(["etcd", "keys", `${page}none`])).toExit(0, {
      stdout: "",
      stderr: "there are no such keys",
    });
    await namespace.expectDone("etcd keys --limit 1");
  });

  cluster.test("one key is shown with its past, and byte for byte", async () => {
    const namespace = cluster.createNamespace({ transport });
    const key = `/one/${transport}`;
    const first = await write(put(key, '{"a":1,"b":2}'));
    const second = await write(put(key, '{ "a": 1, "b": 3 }'));
    expect(await namespace.execute(["etcd", "get", key])).toExit(0, {
      stdout: new RegExp(
        `^${key}\n18 bytes, created at revision ${first.revision}, changed at ${second.revision}, version 2, no lease\n  \\{\n    "a": 1,\n    "b": 3\n  \\}\n$`,
      ),
    });
    expect(await namespace.execute(["etcd", "get", key, "--previous"])).toExit(0, {
      stdout: `the value before: changed at revision ${first.revision}, version 1\n    {\n      "a": 1,\n  -   "b": 2\n  +   "b": 3\n    }\n`,
    });
    expect(await readDocument(namespace, "get", ["get", key, "--previous"])).toMatchObject({
      key: { key, value: '{ "a": 1, "b": 3 }', version: "2" },
      previous: { value: '{"a":1,"b":2}', modRevision: String(first.revision) },
    });
    expect(
      await readDocument(namespace, "get", ["get", key, "--rev", String(first.revision), "--previous"]),
    ).toMatchObject({
      key: { value: '{"a":1,"b":2}' },
      noPrevious: "created",
    });
    const binary = `${key}\xff`;
    await cluster.etcd.putBytes(binary, HOSTILE);
    const raw = await namespace.execute(["etcd", "get", btoa(binary), "--base64"]);
    expect(raw).toExit(0, { stdout: SAFE });
    const file = cluster.createPath("");
    const words = `etcd get ${btoa(binary)} --base64 --raw`;
    const { code } = await namespace.execute([...words.split(" ")], {
      before: ["sh", "-c", `exec "$0" "$@" > ${file}`],
    });
    expect({ code, bytes: readFileSync(file, "latin1") }).toEqual({ code: 0, bytes: HOSTILE });
  });

  cluster.test("a lease is told with its time, and what is not there with its reason", async () => {
    const namespace = cluster.createNamespace({ transport });
    const key = `/leased/${transport}`;
    const session = transport === "http" ? 81n : 82n;
    await grantOnce(cluster.store, session, 600);
    await write({ op: "put", key, value: "x", session });
    expect(await namespace.execute(["etcd", "get", key])).toExit(0, {
      stdout: /lease 5[12], \d+ s of 600 s left/,
    });
    expect(await readDocument(namespace, "get", ["get", key])).toMatchObject({
      ttl: 600,
      left: expect.any(Number),
    });
    expect(await namespace.execute(["etcd", "get", `${key}none`])).toFail(1, `there is no key "${key}none"`);
    expect(await namespace.execute(["etcd", "get", key, "--rev", "1"])).toFail(
      1,
      `there is no key "${key}" at revision 1`,
    );
    expect(await namespace.execute(["etcd", "get", key, "--rev", "999999999"])).toFail(
      64,
      "must not be in the future",
    );
    expect(await namespace.execute("etcd get ''")).toFail(64, "KEY must not be empty");
    expect(await namespace.execute("etcd get *** --base64")).toFail(64, "is not base64");
  });
});

cluster.test("a revision that was compacted is said to be gone", async ({ namespace }) => {
  await write(put("/compacted", "1"));
  const { revision } = await write(put("/compacted", "2"));
  await write(put("/compacted", "3"));
  await cluster.etcd.runEtcdctl("compact", String(revision + 1n));
  expect(await namespace.execute(`etcd get /compacted --rev ${revision}`)).toFail(
    1,
    `etcd has compacted revision ${revision}`,
  );
  expect(await namespace.execute(`etcd keys /compacted --rev ${revision}`)).toFail(1, "etcd has compacted");
  expect(await namespace.execute("etcd get /compacted --previous")).toExit(0, {
    stdout: "  3\netcd has compacted the value before\n",
  });
});
