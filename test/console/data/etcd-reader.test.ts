import { expect, it, onTestFinished } from "vitest";
import type { CommandContext } from "../../../src/cli/frame/store-command.ts";
import { EtcdReader } from "../../../src/console/data/etcd-reader.ts";
import { StoreError } from "../../../src/core/etcd/store.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";

it("tells why etcd does not answer, without what a terminal would obey", async () => {
  const store = {
    readUsers: () => Promise.reject(new StoreError("permission", "no \x1b]52;c;YQ==\x07root")),
  };
  const context = { clock: createRealClock(), store } as unknown as CommandContext;
  const reader = new EtcdReader(context, () => {});
  onTestFinished(() => reader.show(undefined));
  reader.show("users");
  await expect.poll(() => reader.isReading).toBe(false);
  for (const text of [reader.status.text, reader.rows?.empty])
    expect(text).toMatch(/: no [ -~\u2400-\u243f\ufffd]*root$/u);
});
