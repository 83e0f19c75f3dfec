/** The crontabs in docs/migrate: what stands under "after" is what the command makes of what stands under "before". */
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { migrateCrontab } from "../../../src/compat/migrate/crontab.ts";

const DOCS = resolve(import.meta.dirname, "../../../docs");
const PAGES = ["migrate.md", ...readdirSync(resolve(DOCS, "migrate")).map((name) => `migrate/${name}`)];
const BLOCK = /^```crontab\n# before\n([^`]*?)\n# after: signalbox migrate crontab FILE\n([^`]*?)```$/gm;

const blocks = PAGES.flatMap((page) =>
  [...readFileSync(resolve(DOCS, page), "utf8").matchAll(BLOCK)].map(
    ([, before = "", after = ""]) => [page, before, after] as const,
  ),
);

test("there are such blocks in the pages of tools without a front end", () => {
  const pages = blocks.map(([page]) => page);
  for (const name of ["migrate.md", "migrate/flock.md", "migrate/etcdctl.md", "migrate/consul.md"])
    expect(pages).toContain(name);
});

test.each(blocks)("%s", (_page, before, after) => {
  const { text } = migrateCrontab(before, {
    ...{ format: "user", plain: false, program: "signalbox", files: new Map() },
  });
  expect(text).toBe(after);
});
