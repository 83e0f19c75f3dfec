/** The crontabs in docs/migrate: the command converts each "before" to its "after". */
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { migrateCrontab } from "../../../src/compat/migrate/crontab.impl.ts";

const DOCS = resolve(import.meta.dirname, "../../../docs");
const PAGES = ["migrate.md", ...readdirSync(resolve(DOCS, "migrate")).map((name) => `migrate/${name}`)];
const BLOCK =
  /^```crontab\n# before\n([^`]*?)\n# after: signalbox migrate crontab( --plain)? FILE\n([^`]*?)```$/gm;

const blocks = PAGES.flatMap((page) =>
  [...readFileSync(resolve(DOCS, page), "utf8").matchAll(BLOCK)].map(
    ([, before = "", flag, after = ""]) => [page, before, after, flag !== undefined] as const,
  ),
);

test("there are such blocks in the pages of tools without a front end", () => {
  const pages = blocks.map(([page]) => page);
  for (const name of [
    "migrate.md",
    "migrate/flock.md",
    "migrate/lock-tools.md",
    "migrate/schedulers.md",
    "migrate/etcdctl.md",
    "migrate/consul.md",
  ])
    expect(pages).toContain(name);
});

test.each(blocks)("%s", (_page, before, after, plain) => {
  const { text } = migrateCrontab(before, {
    format: "user",
    plain,
    program: "signalbox",
    files: new Map(),
  });
  expect(text).toBe(after);
});
