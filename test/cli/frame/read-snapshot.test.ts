/** Reads of commands: all data are from one revision. */
import { describe, expect, it } from "vitest";
import { retryCompacted } from "../../../src/cli/frame/read-snapshot.ts";
import { StoreError } from "../../../src/core/etcd/store.ts";

describe("a read in several steps", () => {
  const failing = (kind: "compacted" | "permission", times: number) => {
    let calls = 0;
    const read = async () => {
      calls += 1;
      if (calls <= times) throw new StoreError(kind, "no");
      return calls;
    };
    return { read, calls: () => calls };
  };

  it.each([0, 1, 2])("is begun again where a compaction came between, here %i times", async (times) => {
    expect(await retryCompacted(failing("compacted", times).read)).toBe(times + 1);
  });

  it("is not begun again for ever, nor for another reason", async () => {
    const always = failing("compacted", 99);
    await expect(retryCompacted(always.read)).rejects.toMatchObject({ kind: "compacted" });
    expect(always.calls()).toBe(3);
    const refused = failing("permission", 1);
    await expect(retryCompacted(refused.read)).rejects.toMatchObject({ kind: "permission" });
    expect(refused.calls()).toBe(1);
  });
});
