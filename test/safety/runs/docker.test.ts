/** Jobs in containers of Docker, whose daemon a stand-in plays: it is none of the run's processes. */
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { startDockerStandIn } from "../../../fixtures/process/fake-docker.ts";
import {
  canCreateCgroups,
  createCgroupHome,
  createSleeper,
  killTogether,
} from "../../../fixtures/process/guarded-processes.ts";
import { GUARDIAN, killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const findGuardians = (mark: string) =>
  listMarkedProcesses(mark).flatMap(({ name, pid }) => (name === GUARDIAN ? [pid] : []));

describe.runIf(canCreateCgroups)("a container of a daemon", () => {
  test("has the exit code of its client, and gets the signals of its run", async ({ namespace }) => {
    const [{ before }, { env, calls }] = [createCgroupHome(), await startDockerStandIn()];
    const script = "trap 'exit 3' TERM; echo up; while :; do sleep 0.1; done";
    const run = namespace.startRun("--lock x --container", ["docker", "run", "--rm", "job", script], {
      before,
      env,
    });
    await run.waitForOutput("up");
    killProcess(run.pid, "SIGTERM");
    expect(await run.ended).toExit(3);
    expect(calls).toEqual([
      ["run", expect.stringMatching(/^--cgroup-parent=\/.*\/signalbox-run-[^/]+$/), "--rm", "job", script],
    ]);
  });

  test.for(["runner", "guardians", "all at once"])(
    "is dead before the lock moves: killed are %s",
    async (killed, { namespace }) => {
      const [{ before }, { env }, sleeper] = [
        createCgroupHome(),
        await startDockerStandIn(),
        createSleeper(),
      ];
      const words = ["docker", "run", "job", `${sleeper.words} & ${sleeper.words}`];
      const run = namespace.startRun("--lock x --container", words, { before, env });
      await waitUntil("the container", sleeper.find);
      if (killed === "runner") killProcess(run.pid, "SIGKILL");
      else killTogether(...findGuardians(run.mark), ...(killed === "guardians" ? [] : [run.pid]));
      await run.ended;
      if (killed === "all at once") await namespace.run("--lock y", "true", { before });
      await waitUntil("its end", () => sleeper.find() === undefined);
      if (killed === "guardians") expect(await namespace.run("--lock x")).toExit(0);
    },
  );

  test("that has failed leaves no cgroup, unless it may start late", async ({ namespace }) => {
    const [{ before, groups }, { env }] = [createCgroupHome(), await startDockerStandIn()];
    const run = (script: string) =>
      namespace.run("--lock x --container", ["docker", "run", "job", script], { before, env });
    expect(await run("exit 124")).toExit(124);
    expect(groups()).toEqual([]);
    expect(await run("exit 125")).toExit(125);
    expect(groups()).toHaveLength(1);
  });

  test.for(["client", "guardians"])(
    "does not start late, when its run is over: killed are %s",
    async (killed, { namespace }) => {
      const home = createCgroupHome();
      const { env, calls, startLate } = await startDockerStandIn({ isLate: true });
      const run = namespace.startRun("--lock x --container", ["docker", "run", "job", "true"], {
        ...home,
        env,
      });
      await waitUntil("the call", () => calls.length > 0);
      const clients = () =>
        listMarkedProcesses(run.mark).filter(
          ({ parent, name }) => name !== GUARDIAN && parent !== process.pid && parent !== run.pid,
        );
      if (killed === "client") for (const { pid } of clients()) killProcess(pid, "SIGKILL");
      else killTogether(...findGuardians(run.mark));
      await run.ended;
      await namespace.run("--lock x", "true", { before: home.before }); // removes what earlier runs have left
      expect(startLate).toThrow(/EAGAIN/);
    },
  );

  test("of a schedule is dead if the worker is killed", async ({ namespace }) => {
    const [{ before }, { env, calls }, sleeper] = [
      createCgroupHome(),
      await startDockerStandIn(),
      createSleeper(),
    ];
    const command = ["docker", "run", "job", sleeper.words];
    await namespace.expectDone("schedule add job @manual --container end --folder / --", ...command);
    const worker = namespace.start("worker", { before, env });
    await namespace.expectDone("schedule trigger job");
    await waitUntil("the container", sleeper.find);
    expect(calls).toEqual([["run", expect.stringContaining("/signalbox-run-"), ...command.slice(2)]]);
    killProcess(worker.pid, "SIGKILL");
    await waitUntil("its end", () => sleeper.find() === undefined);
  });

  test("of a schedule is refused if it cannot end with its command", async ({ namespace }) => {
    const add = await namespace.execute([
      "schedule",
      "add",
      "job",
      "@manual",
      "--container",
      "warn",
      "--",
      "docker",
      "exec",
      "job",
      "true",
    ]);
    expect(add).toFail(78, "container: the command must be docker run");
  });

  test("is refused if its daemon may be on another machine", async ({ namespace }) => {
    const { env, calls } = await startDockerStandIn();
    const remote = { ...env, DOCKER_HOST: "ssh://other" };
    const run = (words: string[], variables = env) =>
      namespace.run("--lock x --container", words, { env: variables });
    const context = { ...env, DOCKER_HOST: "", DOCKER_CONTEXT: "other" };
    for (const variables of [remote, context])
      expect(await run(["docker", "run", "job", "true"], variables)).toFail(78, "on another machine");
    expect(await run(["docker", "--host", "ssh://other", "run", "job"])).toFail(
      64,
      "may name another machine",
    );
    expect(await run(["docker", "run", "-itd", "job"])).toFail(64, "leave it out");
    expect(await run(["sh", "-c", "docker run job"])).toFail(64, "must be docker run");
    expect(calls).toEqual([]);
  });
});
