/** signalbox as the first process of a container: a PID namespace, in which nobody else reaps and nobody passes on signals. */
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import type { TestProcess } from "../../../fixtures/cluster/process-group.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const { test } = TestCluster.startForFile();
const isRoot = process.getuid?.() === 0;
const CONTAINER = { before: ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"], launcher: {} };

const start = (namespace: TestNamespace, line: string | readonly string[]) =>
  namespace.start(line, CONTAINER);

/** Lists the children of a process, by their ids outside of the namespace. */
function listChildren(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

/** @returns the id of the first process, outside of the namespace */
function findFirst({ pid }: TestProcess): number {
  return listChildren(pid)[0] ?? -1;
}

/** Lists the processes of a PID namespace. */
function listProcesses(container: string): string[] {
  return globSync("/proc/[0-9]*/ns/pid").filter((path) => {
    try {
      return readlinkSync(path) === container;
    } catch {
      return false; // it has just ended
    }
  });
}

describe.skipIf(!isRoot)(`the first process of a container${isRoot ? "" : " (needs root)"}`, () => {
  test.for([
    ["exit 3", 3],
    ["kill -9 $$", 137],
  ] as const)("exits as its command does: %s", async ([script, code], { namespace }) => {
    expect(await start(namespace, ["run", "--lock", "a", "--", "sh", "-c", script]).ended).toExit(code);
  });

  test("a run passes TERM on, and its lock is free when the command has ended", async ({ namespace }) => {
    const script = 'trap "echo ended; exit 5" TERM; echo up; while :; do sleep 0.05; done';
    const run = start(namespace, ["run", "--lock", "a", "--", "sh", "-c", script]);
    await run.waitForOutput("up");
    process.kill(findFirst(run), "SIGTERM");
    expect(await run.ended).toExit(5, { stdout: "up\nended\n" });
    expect(await namespace.listTickets()).toEqual([]);
  });

  test("a lock is not free before its command has ended, though the first process was killed", async ({
    namespace,
  }) => {
    const run = start(namespace, ["run", "--lock", "a", "--", "sh", "-c", "echo up; exec sleep 1000"]);
    await run.waitForOutput("up");
    const first = findFirst(run);
    const container = readlinkSync(`/proc/${first}/ns/pid`);
    expect(listProcesses(container).length).toBeGreaterThan(3); // it, the runner, a guardian, the command
    process.kill(first, "SIGKILL");
    await run.ended;
    expect(listProcesses(container)).toEqual([]);
    expect(await namespace.execute("run --lock a -- true")).toExit(75); // until its session has expired
  });

  test.for(["worker", "serve --listen 127.0.0.1:0", "agent"])(
    "%s: what others leave is reaped, and TERM ends it",
    async (line, { namespace }) => {
      const folder = mkdtempSync(join(tmpdir(), "signalbox-first-"));
      namespace.onClose(() => rmSync(folder, { recursive: true }));
      const env = { SIGNALBOX_AGENT_SOCKET: "agent.sock" };
      const service = namespace.start(line, { ...CONTAINER, cwd: folder, env });
      await service.waitForOutput(/joined|metrics on|ready/);
      const first = findFirst(service);
      const pipe = join(folder, "pipe");
      execFileSync("mkfifo", [pipe]);
      const inside = ["--target", String(first), "--pid", "--mount", "sh", "-c"];
      const before = listChildren(first);
      execFileSync("nsenter", [...inside, `cat ${pipe} >/dev/null 2>&1 </dev/null &`]);
      await waitUntil("an orphan", () => listChildren(first).length === before.length + 1);
      writeFileSync(pipe, "");
      await waitUntil("it is reaped", () => listChildren(first).length === before.length);
      process.kill(first, "SIGTERM");
      expect(await service.ended).toExit(0);
    },
  );
});
