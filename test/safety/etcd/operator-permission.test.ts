/** A user who may run jobs but not operate: nothing is changed, and the message names the missing permission. */

import { beforeAll, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { SECURED } from "../../../fixtures/etcd/index.ts";
import { startPage } from "../../../fixtures/page.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";

const RUN = "0123456789abcdef";

describe("a runner's role", () => {
  const cluster = TestCluster.startForFile({ auth: SECURED });
  let namespace: TestNamespace;

  beforeAll(async () => {
    namespace = await cluster.createUserNamespace("runner", ["locks/", "resources/", "history/", "hosts/"]);
    const { keys } = namespace;
    const values = {
      [keys.lock("x", RUN)]: serializeTicket(createTicket({ run: RUN, state: "held" })),
      [keys.lock("y", RUN)]: serializeTicket(createTicket({ run: RUN })),
      [keys.drain("lock", "x")]: '{"v":1,"by":"ann","at":1}',
      [keys.group("web")]: '["web1.example.com"]',
      [keys.resourceConfig("db")]: '{"v":1,"total":"10"}',
    };
    for (const [key, value] of Object.entries(values)) await namespace.put(key, value);
  });

  test.each([
    "reset lock x --yes",
    "reset lock x --yes --force",
    "drain lock y --yes",
    "drain all --yes --wait",
    "undrain lock x --yes",
    "group set web web2.example.com --yes",
    "group delete web --yes",
    "resource set db 11 --yes",
    "resource delete db --yes",
  ])("is not enough for %s", async (line) => {
    const before = await cluster.store.readRange(namespace.keys.getFullRange());
    expect(await namespace.execute(line)).toExit(77, {
      stderr:
        /etcd refused the permission, nothing was changed: this needs readwrite on .*\/jobs\/audit\/.*signalbox-operator/,
    });
    const after = await cluster.store.readRange(namespace.keys.getFullRange());
    expect(after.kvs).toEqual(before.kvs);
  });
});

describe("a reader's role", () => {
  const cluster = TestCluster.startForFile({ auth: SECURED });

  test("is enough for the page", async () => {
    const namespace = await cluster.createUserNamespace("reader", []);
    await namespace.put(
      namespace.keys.lock("x", RUN),
      serializeTicket(createTicket({ run: RUN, state: "held" })),
    );
    const url = await startPage(namespace);
    for (const path of [
      "/",
      "/locks",
      "/lock/x",
      "/lock/x.json",
      "/problems",
      "/history",
      "/metrics",
      "/healthz",
    ])
      expect({ path, status: (await fetch(url + path)).status }).toEqual({ path, status: 200 });
    await namespace.put(
      namespace.keys.lock("y", RUN),
      serializeTicket(createTicket({ run: RUN, state: "held" })),
    );
    await waitUntil("it follows", async () =>
      (await (await fetch(`${url}/locks`)).text()).includes("/lock/y"),
    );
  });
});
