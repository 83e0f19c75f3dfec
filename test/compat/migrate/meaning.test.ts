/** A real shell runs the line before and after: the command gets the same words, and its output goes the same way. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrateCrontab } from "../../../src/compat/migrate/crontab.impl.ts";
import type { MigrationOptions } from "../../../src/compat/migrate/migration.ts";

/** Tools that only run their arguments. */
const STAND_INS = {
  signalbox: 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
  flock:
    'while :; do case $1 in -w|-E) shift 2;; -*) shift;; *) break;; esac; done; shift; if [ "$1" = -c ]; then exec "$SHELL" "$@"; fi; exec "$@"',
  cronlock: 'exec "$@"',
  job: 'printf "<%s>" "$0" "$@" "$A"; echo error >&2; cat',
};
const MANNER: MigrationOptions = { format: "user", plain: true, program: "signalbox", files: new Map() };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-migrate-"));
  for (const [name, text] of Object.entries(STAND_INS)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As cron does: `\%` is a percent sign, what follows a bare one is input. */
function ran(command: string) {
  const [text = "", ...input] = command.split(/(?<!\\)%/).map((part) => part.replaceAll("\\%", "%"));
  const { PATH = "" } = process.env;
  const env = { PATH: `${folder}${delimiter}${PATH}`, HOME: folder, X: "a  b", SHELL: "/bin/sh" };
  const { stdout, stderr, status } = spawnSync("/bin/sh", ["-c", text], {
    env,
    cwd: folder,
    encoding: "utf8",
    input: input.join("\n"),
  });
  return { stdout, stderr, status };
}

test.each([
  'flock -n /x job a \'b  c\' "$X" $X "d\\"e" \\$f',
  "flock -n /x job +\\%F%in%put",
  "flock -n /x -c 'job \"a  b\" | cat'",
  "flock -n /x job >out 2>&1 && cat out",
  "A='x  y' flock -w 5 \"/run/$X\" job `echo 1 2` $(echo 3)",
  "cd / && A=1 nice -n 1 flock -E 3 -n '/x y' job *none* ~/q || echo failed",
  'sh -c \'flock -n "/x y" job "$X"\'',
  "sh -c \"flock -n /x job '$X'\"",
  'sh -c "flock -n /x job a"',
  "A=b cronlock job a\\ b '' \"\"",
  "(flock -n /x false; job) | cat; exit 3",
  "job 'it''s' \"$X\" | cat >out; cat out",
  'cd / && A=b job "$X"',
  "A=b nice job '%' 2>/dev/null".replaceAll("%", "\\%"),
  "if true; then job 'a'; fi",
])("%s", (command) => {
  const { text, lines } = migrateCrontab(`* * * * * ${command}\n`, MANNER);
  const after = text.slice("* * * * * ".length, -1);
  if (lines.every(({ reason }) => reason === undefined)) expect(after).toContain("signalbox run");
  expect(ran(after)).toEqual(ran(command));
  expect(ran(after).stdout).not.toBe("");
});
