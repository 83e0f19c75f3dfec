/** Launchers and guardians of served runs that are killed, alone and together with the agent. */
import { describe, expect, test } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import type { TestProcess } from "../../../fixtures/cluster/process-group.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS } from "../../../fixtures/cluster/test-namespace.ts";
import { listCommandLines } from "../../../fixtures/process/guarded-processes.ts";
import { GUARDIAN, killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { waitForDeath } from "../../../fixtures/process/wait-for-death.ts";

const cluster = TestCluster.startForFile();

/** A job that only SIGKILL ends, and one that waits for its lock. */
async function startTwo(host: HostAgent) {
  const { jobs } = host;
  const first = await jobs.startAndWait("first", "--lock x", { hold: ["stubborn"] });
  const second = await jobs.startWaiter("second", "--lock x --wait");
  return { first, second };
}

const listGuardians = (run: TestProcess) =>
  listMarkedProcesses(run.mark).filter(({ name }) => name === GUARDIAN);

function killGuardians(run: TestProcess) {
  const guardians = listGuardians(run);
  expect(guardians).toHaveLength(2);
  for (const { pid } of guardians) killProcess(pid, "SIGKILL");
}

/** As `pkill -9 -f WORD` does, among the processes of one run. */
function killByWord(run: TestProcess, word: string) {
  const own = new Set(listMarkedProcesses(run.mark).map(({ pid }) => pid));
  const hit = listCommandLines().filter(({ pid, cmdline }) => own.has(pid) && cmdline.includes(word));
  for (const { pid } of hit) killProcess(pid, "SIGKILL");
  return hit.map(({ pid }) => pid);
}

/** What is killed, and the exit code that the run then has. */
const DEATHS: [what: string, kill: (run: TestProcess) => void, end: object][] = [
  ["the launcher", (run) => run.kill("SIGKILL"), { signal: "SIGKILL" }],
  [
    "all that shows the name of the lock",
    (run) => expect(killByWord(run, "--lock\0x\0")).toEqual([run.pid]),
    { signal: "SIGKILL" },
  ],
  [
    "the outer guardian",
    (run) => killProcess(listGuardians(run).find(({ parent }) => parent === run.pid)?.pid, "SIGKILL"),
    { code: 125 },
  ],
  [
    "the inner guardian",
    (run) => killProcess(listGuardians(run).find(({ parent }) => parent !== run.pid)?.pid, "SIGKILL"),
    { code: 125 },
  ],
  ["both guardians", killGuardians, { code: 125 }],
  [
    "the launcher and both guardians",
    (run) => {
      killGuardians(run);
      run.kill("SIGKILL");
    },
    { signal: "SIGKILL" },
  ],
];

describe.each(DEATHS)("killed: %s", (_, kill, end) => {
  test("the job is dead before the next one starts, which need not wait for a session to expire", async () => {
    const host = await HostAgent.start(cluster);
    const { first, second } = await startTwo(host);
    kill(first);
    expect(await first.ended).toMatchObject(end);
    await waitForDeath(first.mark, 30_000);
    expect(await second.ended).toExit(0, { stderr: "" });
    expect(host.jobs.journal.findOveruse()).toEqual([]);
  });

  test("together with the agent: the job is dead before the next one starts, under the next agent", async () => {
    const host = await HostAgent.start(cluster, SHORT_SESSIONS); // some of them have to expire
    const { first, second } = await startTwo(host);
    host.signal("SIGKILL");
    kill(first);
    await host.process.ended;
    await host.start();
    await waitForDeath(first.mark, 30_000);
    expect(await second.ended).toExit(0, { stderr: "" });
    expect(host.jobs.journal.findOveruse()).toEqual([]);
    expect(await host.namespace.listTickets()).toEqual([]);
  });
});

test("a launcher killed while it waits leaves its place", async () => {
  const host = await HostAgent.start(cluster);
  const { namespace } = host;
  const { first, second } = await startTwo(host);
  const third = await namespace.jobs.startWaiter("third", "--lock x --wait");
  second.kill("SIGKILL");
  await namespace.jobs.waitForTickets("second", "waiting", 0);
  first.kill("SIGTERM");
  expect(await third.ended).toExit(0, { stderr: "" });
  expect(await namespace.listTickets()).toEqual([]);
});
