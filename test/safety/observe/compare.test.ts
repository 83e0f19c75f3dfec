/** `signalbox compare`: two revisions of etcd, what differs, and what happened between. */
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";

const { test } = TestCluster.startForFile();

test("tells what came, went and changed between two revisions, as text and as JSON", async ({
  namespace,
}) => {
  const put = (lock: string, run: string, state: "held" | "waiting") => {
    const at = Date.now() - 60_000;
    const ticket = createTicket({ run, state, enqueuedAt: at, ...(state === "held" && { grantedAt: at }) });
    return namespace.write({
      op: "put",
      key: namespace.keys.lock(lock, run),
      value: serializeTicket(ticket),
    });
  };
  const [a, b, c] = ["000000000000000a", "000000000000000b", "000000000000000c"] as const;
  await put("gone", a, "held");
  const { revision: first } = await put("busy", b, "held");
  await put("busy", c, "waiting");
  await namespace.write({ op: "delete", key: namespace.keys.lock("gone", a) });
  await namespace.expectDone("drain lock busy --yes");
  const compare = async (words: string) => await namespace.execute(`compare ${words}`);
  const { stdout, code } = await compare(`rev${first}`);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^- .*, revision \d+\n\+ .*, revision \d+\n/);
  expect(stdout).toMatch(/\nlocks\n +NAME.*\n- busy +held .*\n\+ busy .*\n- gone +held/);
  expect(stdout).toMatch(/\ndrains\n.*\n\+ lock .*busy/);
  expect(stdout).toMatch(/\nbetween\n[\s\S]*drained.*busy/);
  const { before, rows, events } = await namespace.executeJson(`compare rev${first} --only locks`);
  expect(before.revision).toBe(String(first));
  expect(rows).toMatchObject([
    { listing: "locks", change: "changed", before: { name: "busy" }, after: { name: "busy" } },
    { listing: "locks", change: "removed", before: { name: "gone" } },
  ]);
  expect(events.length).toBeGreaterThan(0);
  // The same state twice, a time that is none, and times in the wrong order.
  expect((await compare(`rev${first} rev${first}`)).stdout).not.toContain("NAME");
  expect(await compare("soon")).toExit(64, { stderr: "write a time as" });
  expect(await compare(`now rev${first}`)).toExit(64, { stderr: "the earlier one" });
  expect(await compare("rev999999999")).toExit(1, { stderr: "there is no revision" });
});

test("says what is left if etcd has compacted a state", async ({ namespace }) => {
  const { revision } = await namespace.executeJson("ls");
  await namespace.expectDone("drain lock x --yes");
  const { revision: now } = await namespace.executeJson("ls");
  await namespace.etcd.runEtcdctl("compact", String(now));
  expect(await namespace.execute(`compare rev${revision}`)).toExit(1, { stderr: "compacted" });
});
