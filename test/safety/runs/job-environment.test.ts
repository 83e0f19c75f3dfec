/** The environment and arguments of a command, byte for byte, and what a ticket records. */

import { spawnSync } from "node:child_process";
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { BUNDLE } from "../../../fixtures/signalbox.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { parseTicket } from "../../../src/core/protocol/ticket.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** Variables with arbitrary bytes, which only `env` in a shell can set. */
const MAKE = `exec env "$(printf 'RAW_VALUE=a\\377b')" "$(printf 'RAW_\\376NAME=1')" RAW_TEXT=ü "$0" "$@"`;
/** The command's own environment as the kernel has it. */
const SHOW = ["sh", "-c", "tr '\\0' '\\n' < /proc/$$/environ | grep -a '^RAW_' | LC_ALL=C sort"];
const EXPECTED = Buffer.from("RAW_TEXT=\xc3\xbc\nRAW_VALUE=a\xffb\nRAW_\xfeNAME=1\n", "latin1");

function runWithBytes(words: readonly string[], env: Record<string, string>) {
  const { PATH = "" } = process.env;
  return spawnSync("sh", ["-c", MAKE, process.execPath, BUNDLE, ...words], { env: { PATH, ...env } });
}

describe("bytes that are no UTF-8 in variables", () => {
  test("reach the command of `run` as they are", () => {
    const namespace = cluster.createNamespace();
    const { stdout } = runWithBytes(["run", "--lock", "x", "--", ...SHOW], {
      ...namespace.env,
      SIGNALBOX_ENDPOINTS: cluster.endpoints.join(),
    });
    expect(stdout.toString("latin1")).toBe(EXPECTED.toString("latin1"));
  });

  test("reach the command of a front end", () => {
    const namespace = cluster.createNamespace();
    const { stdout } = runWithBytes(["cronlock", ...SHOW], {
      ...namespace.env,
      SIGNALBOX_ENDPOINTS: cluster.endpoints.join(),
    });
    expect(stdout.toString("latin1")).toBe(EXPECTED.toString("latin1"));
  });

  test("also a value that is longer than a frame", () => {
    const namespace = cluster.createNamespace();
    const script = `exec env "LONG=$(head -c 100000 /dev/zero | tr '\\0' '\\377')" "$0" "$@"`;
    const words = [
      "run",
      "--lock",
      "y",
      "--",
      "sh",
      "-c",
      'printf %s "$LONG" | wc -c; printf %s "$LONG" | tr -d \'\\377\' | wc -c',
    ];
    const { stdout, stderr } = spawnSync("sh", ["-c", script, process.execPath, BUNDLE, ...words], {
      env: { PATH: process.env.PATH ?? "", ...namespace.env, SIGNALBOX_ENDPOINTS: cluster.endpoints.join() },
    });
    expect(stderr.toString()).toBe("");
    expect(stdout.toString().split(/\s+/)).toEqual(["100000", "0", ""]);
  });
});

test("--record-args with a line that is longer than a ticket may be: the job runs, and the record is shortened", async ({
  namespace,
}) => {
  const long = ["x".repeat(100_000), ...Array.from({ length: 9 }, () => "y".repeat(100_000))];
  const run = namespace.startRun("--lock x --record-args", ["sh", "-c", "echo up; exec sleep 60", ...long]);
  await run.waitForOutput("up");
  const [entry] = await waitUntil("its ticket", async () => {
    const queue = await namespace.readQueue("x");
    return queue.length === 1 && queue;
  });
  const { args = [] } = entry?.ticket ?? {};
  expect(args.slice(0, 2)).toEqual(["-c", "echo up; exec sleep 60"]);
  expect(args[2]).toBe(`${"x".repeat(1_024)}…`);
  expect(args.at(-1)).toMatch(/^… \(\d+ more\)$/);
  expect(parseTicket(JSON.stringify(entry?.ticket))).toBeDefined();
  await run.end();
});
