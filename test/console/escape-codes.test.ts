/** Only the theme and the terminal use escape codes. All other code uses roles. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../../src/console");

it("escape codes are in theme/ and terminal/ only", () => {
  const files = globSync("**/*.{ts,tsx}", { cwd: ROOT });
  expect(files.length).toBeGreaterThan(50);
  const found = files.filter(
    (file) =>
      !/^(theme|terminal)\//.test(file) && /\\x1b|\\u001b|\x1b/i.test(readFileSync(join(ROOT, file), "utf8")),
  );
  expect(found).toEqual([]);
});
