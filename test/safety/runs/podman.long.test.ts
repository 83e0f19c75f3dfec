/** Jobs in containers of podman: each is dead before its lock moves, whoever is killed. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS, type TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { createSleeper, killTogether } from "../../../fixtures/process/guarded-processes.ts";
import { GUARDIAN, killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { createPodman, PODMAN_FAULT, PODMAN_KINDS } from "../../../fixtures/process/podman.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const NAME = `a job in a container${PODMAN_FAULT && ` (skipped: ${PODMAN_FAULT})`}`;

/** A command that fails if a process with this argument lives. */
const findArgument = (words: string) => {
  const [, argument = ""] = words.split(" ");
  return ["sh", "-c", `! grep -lsz '^[1]${argument.slice(1)}$' /proc/[0-9]*/cmdline`];
};

/** For the shell of a container: fails if the process before it lives. */
const ALONE =
  '[ ! "$(cat /proc/$(cat /out/pid 2>/dev/null || echo none)/cmdline 2>/dev/null)" ] && echo $$ >/out/pid';

async function startContainer(
  namespace: TestNamespace,
  podman: ReturnType<typeof createPodman>,
  options = "--lock x --container",
  container: readonly string[] = ["--rm"],
) {
  const sleeper = createSleeper();
  const words = podman.runWords(`${sleeper.words} & exec ${sleeper.words}`, container);
  const run = namespace.startRun(options, words, { before: podman.before });
  await waitUntil("the container", sleeper.find);
  const all = listMarkedProcesses(run.mark);
  const guardians = all.flatMap(({ name, pid }) => (name === GUARDIAN ? [pid] : []));
  return { run, sleeper, all, guardians };
}

describe.skipIf(PODMAN_FAULT)(NAME, () => {
  test("is below the cgroup of its run, and has its exit code", async ({ namespace }) => {
    const podman = createPodman();
    const run = (script: string) =>
      namespace.startRun("--lock x --container", podman.runWords(script), podman).ended;
    expect(await run("echo hello")).toExit(0, { stdout: "hello\n", stderr: "" });
    expect(await run("exit 7")).toExit(7, { stdout: "", stderr: "" });
    expect(podman.home.groups(), "no daemon can be late").toEqual([]);
    expect(podman.execute("ps", "--all", "--quiet")).toBe("");
  });

  test("gets TERM first, and can end by itself", async ({ namespace }) => {
    const podman = createPodman();
    const script = "trap 'echo ended >/out/ended; exit 3' TERM; touch /out/up; while :; do sleep 0.05; done";
    const run = namespace.startRun("--lock x --container", podman.runWords(script), podman);
    await waitUntil("the container", () => existsSync(join(podman.out, "up")));
    killProcess(run.pid, "SIGTERM");
    await run.ended;
    expect(readFileSync(join(podman.out, "ended"), "utf8")).toBe("ended\n");
  });

  test("is dead before the lock moves if its runner is killed", async ({ namespace }) => {
    const podman = createPodman();
    const { run, sleeper } = await startContainer(namespace, podman);
    const next = namespace.startRun("--lock x --wait", findArgument(sleeper.words));
    killProcess(run.pid, "SIGKILL");
    expect(await next.ended).toExit(0);
  });

  test("is dead before the lock moves if its guardians are killed", async ({ namespace }) => {
    const podman = createPodman();
    const { run, sleeper, guardians } = await startContainer(namespace, podman);
    const next = namespace.startRun("--lock x --wait", findArgument(sleeper.words));
    killTogether(...guardians);
    expect(await run.ended).toExit(125);
    expect(await next.ended).toExit(0);
  });

  test("is killed by the next run there if its runner and its guardians were killed at once", async ({
    namespace,
  }) => {
    const podman = createPodman();
    const { run, sleeper, guardians } = await startContainer(namespace, podman);
    killTogether(...guardians, run.pid);
    await namespace.run("--lock y", "true", podman);
    await waitUntil("its end", () => sleeper.find() === undefined);
  });

  test("ends, and frees its name, if podman and conmon hang", async ({ namespace }) => {
    const podman = createPodman();
    const named = ["--rm", "--replace", "--name=job"];
    const { run, sleeper, all } = await startContainer(namespace, podman, "--lock x --container", named);
    for (const { name, pid } of all) if (/^(?:podman|conmon)/.test(name)) killProcess(pid, "SIGSTOP");
    const next = namespace.startRun(
      "--lock x --wait --container",
      podman.runWords("echo next", named),
      podman,
    );
    await namespace.waitForQueue("x", 2);
    killProcess(run.pid, "SIGTERM");
    await run.ended;
    expect(sleeper.find()).toBe(undefined);
    expect(await next.ended).toExit(0, { stdout: "next\n" });
  });

  test("is refused where its run has no cgroup", async ({ namespace }) => {
    const podman = createPodman();
    const before = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/fs/cgroup; exec "$@"', "sh"];
    const run = namespace.run("--lock x --container", podman.runWords("echo started"), { before });
    expect(await run).toFail(78, "has no cgroup of its own");
  });

  test.each([PODMAN_KINDS["root, with crun"], PODMAN_KINDS["an ordinary user"]])(
    "of $user with $runtime has its exit code, and is dead before the lock moves",
    async (how) => {
      const [namespace, podman] = [cluster.createNamespace(), createPodman(how)];
      const run = (script: string) =>
        namespace.startRun("--lock x --container=end", podman.runWords(script), podman).ended;
      expect(await run("echo hello")).toExit(0, { stdout: "hello\n" });
      expect(await run("exit 7")).toExit(7);
      expect(podman.home.groups()).toEqual([]);
      const { run: killed, sleeper, guardians } = await startContainer(namespace, podman);
      const next = namespace.startRun("--lock x --wait", findArgument(sleeper.words));
      killTogether(...guardians);
      expect(await killed.ended).toExit(125);
      expect(await next.ended).toExit(0);
    },
  );

  test.each(["its runner", "its guardians", "its guardians and the agent"])(
    "that an agent serves is dead before the lock moves: killed are %s",
    async (victim) => {
      const [host, podman] = [await HostAgent.start(cluster, SHORT_SESSIONS), createPodman()];
      const { run, sleeper, guardians } = await startContainer(host.namespace, podman);
      const next = host.namespace.startRun("--lock x --wait", findArgument(sleeper.words));
      await host.namespace.waitForQueue("x", 2);
      const isAgentKilled = victim.endsWith("agent");
      killTogether(
        ...(victim === "its runner" ? [run.pid] : guardians),
        ...(isAgentKilled ? [host.process.pid] : []),
      );
      if (isAgentKilled) await host.start();
      expect(await next.ended).toExit(0);
    },
  );

  test.each(["the worker is killed", "its guardians are killed", "podman hangs and the worker ends"])(
    "of a schedule is dead before the next one starts if %s",
    async (fault) => {
      const [namespace, podman, sleeper] = [
        cluster.createNamespace({ env: SHORT_SESSIONS }),
        createPodman(),
        createSleeper(),
      ];
      const words = podman.runWords(`${ALONE} && exec ${sleeper.words}`, ["--rm", "--pid=host"]);
      await namespace.expectDone("schedule add job @manual --container end --", ...words);
      const worker = namespace.start("worker", podman);
      await namespace.expectDone("schedule trigger job");
      await waitUntil("the container", sleeper.find);
      const [first, all] = [sleeper.find(), listMarkedProcesses(worker.mark)];
      if (fault === "the worker is killed") killProcess(worker.pid, "SIGKILL");
      else if (fault === "its guardians are killed") {
        killTogether(...all.flatMap(({ name, pid }) => (name === GUARDIAN ? [pid] : [])));
        await namespace.expectDone("schedule trigger job");
      } else {
        for (const { name, pid } of all) if (/^(?:podman|conmon)/.test(name)) killProcess(pid, "SIGSTOP");
        worker.kill("SIGTERM");
        await worker.waitForOutput("leaving");
        worker.kill("SIGTERM");
      }
      namespace.start("worker", podman);
      await waitUntil("the next one", () => ![undefined, first].includes(sleeper.find()));
    },
  );
});
