/**
 * Several front ends together: the same lines on two hosts, several tools on one lock, links with the tools' names, and
 * the results of `migrate crontab` for the same lines.
 */

import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { BUNDLE, createCleanEnv, PROGRAM, type ProcessResult } from "../../../fixtures/signalbox.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { migrateCrontab } from "../../../src/compat/migrate/crontab.impl.ts";
import { quoteShellWord } from "../../../src/core/base/shell.ts";

/** Links of these names lead to the program, as a site would have them. */
const LINKS = ["cronlock", "golock", "switchman", "zoo-locked", "perfectsched", "signalbox"];

const cluster = TestCluster.startForFile();
const { test } = cluster;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-front-"));
  for (const name of LINKS) symlinkSync(PROGRAM, join(folder, name));
  for (const [name, text] of [
    ["hold", "echo up; exec sleep 1000"],
    ["work", "echo ran"],
    ["until", ': >"$UP"; while [ -e "$UP" ] && [ ! -e "$GATE" ]; do sleep 0.05; done'],
  ] as const) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  writeFileSync(resolvePath("switchman.conf"), SWITCHMAN);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

interface Tool {
  /** Words before those of the tool's own: `signalbox`, or none where a link is called. */
  name: string;
  env: Record<string, string>;
  /** Its words before the command. @param hosts  etcd's, as HOST:PORT,... */
  words(hosts: string): string[];
  /** What it ends with, and says, where the lock is taken. */
  busy: Pick<ProcessResult, "code" | "stdout" | "stderr">;
}

const buildSilentEnd = (code: number) => ({ code, stdout: "", stderr: "" });
const SHORT = { CRONLOCK_GRACE: "0" };

/** Each on the lock `job`. */
const ON_JOB: readonly Tool[] = [
  {
    name: "cronlock",
    words: () => [],
    busy: buildSilentEnd(200),
    env: { ...SHORT, CRONLOCK_PREFIX: "jo", CRONLOCK_KEY: "b" }, // to cronlock an empty prefix is none
  },
  {
    name: "golock",
    words: () => [],
    busy: buildSilentEnd(200),
    env: { ...SHORT, CRONLOCK_PREFIX: "", CRONLOCK_KEY: "job" },
  },
  {
    name: "switchman",
    busy: buildSilentEnd(0),
    env: {},
    words: () => ["-c", resolvePath("switchman.conf"), "--lockname", "job", "--"],
  },
  {
    name: "zoo-locked",
    words: (hosts) => [hosts, "/job"],
    env: {},
    busy: { code: 0, stdout: expect.stringMatching(/^LOCKED by /), stderr: "" },
  },
  { name: "run", words: () => ["--lock", "job", "--"], busy: buildSilentEnd(75), env: {} },
];

/** Each on the lock that it chooses itself. */
const BY_THEMSELVES: readonly Tool[] = ON_JOB.map((tool) => ({
  ...tool,
  words: (hosts) => tool.words(hosts).filter((word) => !/^(--lock|--lockname|job)$/.test(word)),
  env: tool.name.endsWith("lock") ? SHORT : tool.env,
}));

/** As switchman has it: where etcd is comes from elsewhere. */
const SWITCHMAN = JSON.stringify({ prefix: "/switchman", zkhosts: "zk1:2181" });

function joinEndpoints() {
  return cluster.etcd.endpoints.map((one) => one.replace(/^https?:\/\//, "")).join(",");
}

const resolvePath = (script: string) => join(folder, script);

/** It has the lock until it is told to end. */
async function startHolder(namespace: TestNamespace, { name, words, env }: Tool, host: string) {
  const run = namespace.start([name, ...words(joinEndpoints()), resolvePath("hold")], {
    env: { ...env, SIGNALBOX_HOST: host },
  });
  await run.waitForOutput("up");
  return run;
}

/** A line as cron gives it to the shell, by the tools' names alone. */
function runShell(
  namespace: TestNamespace,
  line: string,
  env: Record<string, string>,
): Promise<ProcessResult> {
  const { PATH = "" } = process.env;
  const own = {
    ...createCleanEnv(),
    SIGNALBOX_ENDPOINTS: cluster.etcd.endpoints.join(","),
    ...namespace.env,
    ...env,
  };
  const bin = [folder, dirname(process.execPath), PATH].join(delimiter);
  return new Promise((done) => {
    const child = execFile(
      "/bin/sh",
      ["-c", line],
      { env: { ...own, PATH: bin } },
      (_error, stdout, stderr) => done({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
    );
  });
}

function buildLine({ name, words }: Tool, script: string) {
  const called = name === "run" ? ["signalbox", "run"] : [name];
  return [...called, ...words(joinEndpoints()), resolvePath(script)].map(quoteShellWord).join(" ");
}

const pairWithNames = (tools: readonly Tool[]) => tools.map((tool) => [tool.name, tool] as const);

describe.concurrent("the same line on two hosts", () => {
  test.each(pairWithNames(BY_THEMSELVES))(
    "%s: one runs it, the other ends as the tool does",
    async (_name, tool) => {
      const namespace = cluster.createNamespace();
      const first = await startHolder(namespace, tool, "web1.example.com");
      const busy = await runShell(namespace, buildLine(tool, "hold"), {
        ...tool.env,
        SIGNALBOX_HOST: "web2.example.com",
      });
      expect(busy).toMatchObject(tool.busy);
      await first.end();
    },
  );
});

describe.concurrent("several tools on one lock", () => {
  test.each(pairWithNames(ON_JOB))(
    "while %s holds it, every other is refused; then they run",
    async (name, holder) => {
      const namespace = cluster.createNamespace();
      const run = await startHolder(namespace, holder, "web1.example.com");
      expect((await namespace.readQueue("job")).map(({ ticket }) => ticket?.host)).toEqual([
        "web1.example.com",
      ]);
      const others = ON_JOB.filter((tool) => tool.name !== name);
      const refused = others.map(async (tool) => [
        tool.name,
        await runShell(namespace, buildLine(tool, "work"), tool.env),
      ]);
      expect(Object.fromEntries(await Promise.all(refused))).toMatchObject(
        Object.fromEntries(others.map((tool) => [tool.name, tool.busy])),
      );
      await run.end();
      const next = others[0] ?? holder;
      expect(await runShell(namespace, buildLine(next, "work"), next.env)).toMatchObject({
        code: 0,
        stdout: "ran\n",
      });
    },
  );
});

describe.concurrent("signalbox migrate crontab makes the same of a line", () => {
  /** The line and the variables of a crontab, as the command would print it. */
  function migrateLine(tool: Tool) {
    const variables = Object.entries(tool.env).map(([key, value]) => `${key}="${value}"\n`);
    const { text, lines } = migrateCrontab(`${variables.join("")}* * * * * ${buildLine(tool, "hold")}\n`, {
      format: "user",
      plain: false,
      program: "signalbox",
      files: new Map([[resolvePath("switchman.conf"), SWITCHMAN]]),
    });
    expect(lines[0]?.reason).toBeUndefined();
    return text.split("\n").at(-2)?.replace("* * * * * ", "") ?? "";
  }

  const translated = BY_THEMSELVES.filter(({ name }) => name !== "run");
  test.each(pairWithNames(translated))(
    "%s: it is refused while the tool holds the lock",
    async (_name, tool) => {
      const namespace = cluster.createNamespace();
      const run = await startHolder(namespace, tool, "web1.example.com");
      const line = migrateLine(tool);
      expect(line).toMatch(/^signalbox run /);
      expect(await runShell(namespace, line, {})).toMatchObject(buildSilentEnd(tool.busy.code ?? -1));
      await run.end();
    },
  );
});

describe.concurrent("changing over with migrate crontab --around: no step lets a job run beside one of the step next to it", () => {
  // flock stands for the old tool: one file for all hosts, as an old server would be.
  const steps = ["old", "around", "new"] as const;
  type Step = (typeof steps)[number];

  function buildLines(script: string, file: string): Record<Step, string> {
    const old = `flock -n ${file} ${resolvePath(script)}`;
    const rewriteLine = (around: boolean) =>
      migrateCrontab(`* * * * * ${old}\n`, {
        format: "user",
        plain: false,
        program: "signalbox",
        files: new Map(),
        around,
      })
        .text.replace("* * * * * ", "")
        .trimEnd();
    return { old, around: rewriteLine(true), new: rewriteLine(false) };
  }

  test.each<[first: Step, second: Step]>([
    ["old", "around"],
    ["around", "old"],
    ["around", "new"],
    ["new", "around"],
  ])("%s, then %s", async (first, second) => {
    const namespace = cluster.createNamespace();
    const file = cluster.createPath("");
    const holder = buildLines("until", file)[first];
    const gate = `${file}.gate`;
    const running = runShell(namespace, holder, { GATE: gate, UP: `${file}.up` });
    await waitUntil("the first runs", () => existsSync(`${file}.up`));
    expect(await runShell(namespace, buildLines("work", file)[second], {}), "refused").toMatchObject(
      buildSilentEnd(1),
    );
    writeFileSync(gate, "");
    expect(await running).toExit(0);
    expect(await runShell(namespace, buildLines("work", file)[second], {})).toMatchObject({
      code: 0,
      stdout: "ran\n",
    });
  });
});

test.each([
  ["sh -c", "sh -c './until &'"],
  ["setsid", "setsid ./until"],
])(
  "what %s leaves behind goes on without the lock, so migrate crontab leaves such a line of flock",
  async (name, command) => {
    const [UP, GATE] = [resolvePath(`up-${name}`), resolvePath(`gate-${name}`)];
    const namespace = cluster.createNamespace();
    try {
      const line = `cd ${folder} && signalbox run --lock job -- ${command} >/dev/null 2>&1`;
      expect(await runShell(namespace, line, { UP, GATE })).toExit(0);
      await waitUntil("it has begun", async () => existsSync(UP));
      expect(await runShell(namespace, "signalbox run --lock job -- work", {})).toMatchObject({
        code: 0,
        stdout: "ran\n",
      });
      expect(existsSync(UP), "it goes on meanwhile").toBe(true);
    } finally {
      writeFileSync(GATE, "");
    }
    const text = `* * * * * flock -n /x ${command}\n`;
    const manner = { format: "user", plain: false, program: "signalbox", files: new Map() } as const;
    const migration = migrateCrontab(text, manner);
    expect(migration.text).toBe(text);
    expect(migration.lines[0]?.reason).toMatch("continues in the background: flock keeps its lock");
  },
);

test.each([
  ["cronlock", "", 201, "no command was given"],
  ["cronlock", "''", 201, "the command is empty"],
  ["golock", "", 201, "no command was given"],
  ["golock", "''", 201, "the command is empty"],
  ["switchman", "", 255, "no command is given"],
  ["switchman", "-- ''", 255, "no command is given"],
  ["zoo-locked", "", 22, "too few arguments"],
  ["zoo-locked", "a:2379 /x ''", 22, "the command is empty"],
])("%s %s runs nothing: %i; --help alone is ours", async (tool, words, code, message) => {
  const namespace = cluster.createNamespace();
  const ended = await runShell(namespace, `${tool} ${words}`, {});
  expect(ended).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) });
  expect(await runShell(namespace, `${tool} --help`, {})).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(`^signalbox ${tool}: `),
  });
});

test("a link named perfectsched is perfectsched", async ({ namespace }) => {
  const linked = await runShell(namespace, "perfectsched --help", {});
  expect(linked).toEqual(await runShell(namespace, "signalbox perfectsched --help", {}));
  expect(linked).toExit(0, { stdout: /perfectsched/i });
});

test.each([
  ["cronlock job", 201],
  ["golock job", 201],
  ["switchman -- job", 255],
  ["zoo-locked a:2379 /job job", 22],
  ["signalbox run -- job", 78],
])("%s, started with a Node that is too old: %i", async (line, code) => {
  const old = `${cluster.createPath()}.cjs`;
  writeFileSync(old, "Object.defineProperty(process.versions, 'node', { value: '22.13.1' });");
  const start = `'${process.execPath}' '--require=${old}' '${BUNDLE}' ${line.replace(/^signalbox /, "")}`;
  expect(await runShell(cluster.createNamespace(), start, {})).toFail(code, "Node.js 22.14 or later");
});
