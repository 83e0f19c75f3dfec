/** `signalbox check token` and `held.isCurrent()`: whether a token is that of the present holder. */
import { expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const { test } = TestCluster.startForFile();

test("the holder's token is current, an older one, one of nobody and one of a free lock are not", async ({
  namespace,
}) => {
  const box = await connectLibrary(namespace);
  const check = (token: string) => namespace.execute(["check", "token", "x", token, "--json"]);
  const first = await box.acquire({ lock: "x" });
  expect(await first.isCurrent()).toBe(true);
  const holding = await check(first.token);
  expect(holding).toExit(0);
  expect(JSON.parse(holding.stdout)).toMatchObject({ isCurrent: true, holder: { token: first.token } });
  await first.release();
  expect(await first.isCurrent()).toBe(false);
  expect(await check(first.token)).toExit(1);
  const second = await box.acquire({ lock: "x" });
  const late = await namespace.execute(["check", "token", "x", first.token]);
  expect(late).toExit(1, {
    stdout: `lock x: token ${first.token} does not hold it: token ${second.token} does`,
  });
  expect(await check("1")).toExit(1);
});

test("a claim that was deleted is not current, also before its process has noticed", async ({
  namespace,
}) => {
  const box = await connectLibrary(namespace);
  const held = await box.acquire({ lock: "x" });
  const [entry] = await namespace.readQueue("x");
  await namespace.store.revoke(entry?.session ?? 0n);
  expect(await held.isCurrent()).toBe(false);
});

test("what is no token is refused with the value", async ({ namespace }) => {
  for (const token of ["", "x1", "0", "1e9", "12345678901234567890"]) {
    const { code, stderr } = await namespace.execute(["check", "token", "x", token]);
    expect(code, token).toBe(64);
    expect(stderr).toContain(`got "${token}"`);
  }
});
