/** What may stand at the cursor. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryStore } from "../../fixtures/memory-store.ts";
import { COMMAND_NAMES, candidates, FILES } from "../../src/commands/completion/candidates.ts";
import { namesFrom } from "../../src/commands/completion/names.ts";
import { SCRIPTS } from "../../src/commands/completion/scripts.ts";
import { COMMANDS } from "../../src/commands/registry.ts";
import type { NameKind } from "../../src/commands/spec.ts";
import { ManualClock } from "../etcd/manual-clock.ts";
import { keys } from "../protocol/samples.ts";

const lookup = async (kind: NameKind, prefix: string) => [`${prefix}${kind}-1`, `${prefix}${kind}-2`];
const at = async (...words: string[]) => await candidates(COMMANDS, words, lookup);

describe("candidates", () => {
  it.each([
    { words: ["re"], has: ["reset", "release", "resource"], lacks: ["run"] },
    { words: ["group", ""], has: ["set", "list"], lacks: ["run"] },
    { words: ["help", "group", ""], has: ["set"], lacks: ["run"] },
    { words: ["ls", ""], has: ["locks", "problems"], lacks: [] },
    { words: ["ls", "lo"], has: ["locks"], lacks: ["problems"] },
    { words: ["ls", "--"], has: ["--json", "--watch", "--endpoints", "--help"], lacks: ["--force"] },
    { words: ["ls", "--json", "--"], has: ["--watch"], lacks: ["--json"] },
    { words: ["reset", ""], has: ["lock", "resource"], lacks: [] },
    { words: ["reset", "lock", "in"], has: ["inlock-1"], lacks: ["inresource-1"] },
    { words: ["reset", "resource", "d"], has: ["dresource-1"], lacks: ["dlock-1"] },
    { words: ["reset", "--yes", "lock", ""], has: ["lock-1"], lacks: [] },
    { words: ["reset", "lock", "x", "--run", ""], has: ["run-1"], lacks: ["lock-1"] },
    { words: ["reset", "lock", "x", "--run=a"], has: ["--run=arun-1"], lacks: ["run-1"] },
    { words: ["show", "host", "w"], has: ["whost-1"], lacks: ["wlock-1"] },
    { words: ["run", "-"], has: ["--lock", "--wait", "--ttl"], lacks: [] },
    { words: ["run", "--log-file", ""], has: [FILES], lacks: [] },
    { words: ["run", "--lock", "x", "--", ""], has: [COMMAND_NAMES], lacks: [] },
    { words: ["run", "--lock", "x", "--", "cat", ""], has: [FILES], lacks: [] },
    { words: ["stats", "--sort", "b"], has: ["busy"], lacks: ["held"] },
    { words: ["nothing", ""], has: [], lacks: ["run"] },
  ])("behind $words are $has", async ({ words, has, lacks }) => {
    const found = await at(...words);
    expect(found).toEqual(expect.arrayContaining(has));
    for (const word of lacks) expect(found).not.toContain(word);
  });

  it("begin with what was typed, whatever that was", async () => {
    const word = fc.oneof(
      fc.constantFrom("ls", "reset", "lock", "group", "--run", "--", "-x", "="),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 5 }), async (words) => {
        const current = words.at(-1) ?? "";
        for (const one of await at(...words))
          expect(one.startsWith(current) || one.startsWith(":")).toBe(true);
      }),
    );
  });
});

describe("names", () => {
  const signal = new AbortController().signal;
  const store = MemoryStore.create(new ManualClock());
  const run = "0".repeat(16);
  const names = (kind: NameKind, prefix: string) => namesFrom(store, keys, kind, prefix, signal);
  const put = async (...all: string[]) => {
    for (const key of all)
      await store.txn({ compare: [], success: [{ op: "put", key, value: "" }], failure: [] });
  };

  it("are those of their kind that begin so, also where they are encoded; none that a terminal would act on", async () => {
    await put(
      keys.lock("in voices", run),
      keys.lock("invoices", run),
      keys.lock("other", run),
      keys.history("inner"),
    );
    await put(
      keys.lock("in\u202evisible", run),
      keys.resourceConfig("db"),
      keys.resource("db", run),
      keys.group("web"),
    );
    expect(await names("lock", "in")).toEqual(["in voices", "inner", "invoices"]);
    expect(await names("lock", "in v")).toEqual(["in voices"]);
    expect(await names("resource", "")).toEqual(["db"]);
    expect(await names("group", "x")).toEqual([]);
    expect(await names("run", "0")).toEqual([run]);
  });
});

describe("the scripts", () => {
  it.each(Object.keys(SCRIPTS))("of %s name the program and the hidden command", (shell) => {
    expect(SCRIPTS[shell]).toContain("__complete --");
    expect(SCRIPTS[shell]).toContain("signalbox");
  });
});
