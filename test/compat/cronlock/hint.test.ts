/** Hints that relate a failure to the variables of the tool. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { findConfigHint } from "../../../src/compat/cronlock/cronlock.impl.ts";
import { parseCronlockOptions } from "../../../src/compat/cronlock/options.ts";
import { ToolVariables } from "../../../src/compat/cronlock/variables.ts";
import { EXIT, SignalboxError } from "../../../src/core/base/errors.ts";

const folder = createTestFolder(afterAll);
const empty = join(folder, "config.json");
writeFileSync(empty, "{}");

const AWAY = new SignalboxError(EXIT.unreachable, "etcd cannot be reached");

test.each<[env: Record<string, string>, hint: RegExp | undefined]>([
  [{}, /^no address of etcd is configured: set CRONLOCK_HOST or SIGNALBOX_ENDPOINTS$/],
  [{ SIGNALBOX_ENDPOINTS: "http://a:1" }, undefined],
  [{ ETCDCTL_ENDPOINTS: "http://a:1" }, undefined],
  [{ CRONLOCK_HOST: "a" }, undefined],
  [{ CRONLOCK_HOST: "a:6379" }, /port 6379 is the port of Redis/],
])("etcd is out of reach, with %j", (env, hint) => {
  const wish = parseCronlockOptions(
    "cronlock",
    ["true"],
    new ToolVariables(new Map(Object.entries(env)), undefined, undefined),
  );
  const found = findConfigHint(AWAY, wish, { ...env, SIGNALBOX_CONFIG: empty });
  expect(found).toEqual(hint === undefined ? undefined : expect.stringMatching(hint));
});
