/** A user who may run jobs but not operate: nothing is changed, and the message names the missing permission. */

import { beforeAll, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import type { EtcdMember } from "../../../fixtures/etcd/index.ts";
import { serializeTicket } from "../../../src/protocol/ticket.ts";
import { ticketWith } from "../../protocol/samples.ts";

const PREFIX = "/jobs/";
const LOGIN = { rootPassword: "r00t", user: "anybody", password: "x", prefix: PREFIX };
const RUN = "0123456789abcdef";

describe("a runner's role", () => {
  const cluster = TestCluster.startForFile({ auth: LOGIN });
  let namespace: TestNamespace;

  beforeAll(async () => {
    await makeRunner(cluster.etcd);
    const env = {
      SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD: "yes",
      SIGNALBOX_USER: "runner",
      SIGNALBOX_PASSWORD: "secret",
    };
    namespace = cluster.createNamespace({ prefix: PREFIX, env });
    await cluster.store.commitTxn({
      compare: [],
      success: [
        {
          key: namespace.keys.lock("x", RUN),
          value: serializeTicket(ticketWith({ run: RUN, state: "held" })),
        },
        { key: namespace.keys.lock("y", RUN), value: serializeTicket(ticketWith({ run: RUN })) },
        { key: namespace.keys.drain("lock", "x"), value: '{"v":1,"by":"ann","at":1}' },
        { key: namespace.keys.group("web"), value: '["web1.example.com"]' },
        { key: namespace.keys.resourceConfig("db"), value: '{"v":1,"total":"10"}' },
      ].map((kv) => ({ op: "put", ...kv })),
      failure: [],
    });
  });

  test.each([
    ["reset", "lock", "x", "--yes"],
    ["reset", "lock", "x", "--yes", "--force"],
    ["drain", "lock", "y", "--yes"],
    ["drain", "all", "--yes", "--wait"],
    ["undrain", "lock", "x", "--yes"],
    ["group", "set", "web", "web2.example.com", "--yes"],
    ["group", "delete", "web", "--yes"],
    ["resource", "set", "db", "11", "--yes"],
    ["resource", "delete", "db", "--yes"],
  ])("is not enough for %s %s %s %s %s", async (...args) => {
    const before = await cluster.store.readRange(namespace.keys.getFullRange());
    expect(await namespace.execute(args.filter(Boolean))).toExit(77, {
      stderr:
        /etcd refused the permission, nothing was changed: this needs readwrite on .*\/jobs\/audit\/.*signalbox-operator/,
    });
    const after = await cluster.store.readRange(namespace.keys.getFullRange());
    expect(after.kvs).toEqual(before.kvs);
  });
});

/** The role of docs/etcd.md. */
async function makeRunner(etcd: EtcdMember): Promise<void> {
  const runAsRoot = (...args: string[]) => etcd.runEtcdctl("--user", `root:${LOGIN.rootPassword}`, ...args);
  const grant = (kind: string, prefix: string) =>
    runAsRoot("role", "grant-permission", "--prefix=true", "signalbox-runner", kind, prefix);
  await runAsRoot("role", "add", "signalbox-runner");
  await grant("read", PREFIX);
  for (const part of ["locks/", "resources/", "history/", "hosts/"]) await grant("readwrite", PREFIX + part);
  await runAsRoot("user", "add", "runner:secret");
  await runAsRoot("user", "grant-role", "runner", "signalbox-runner");
}
