/** An agent that is not root: it serves its own user, and nobody else uses it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS, SHORT_TTL_MS } from "../../../fixtures/cluster/test-namespace.ts";
import { GUARDIAN, killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { waitForDeath } from "../../../fixtures/process/wait-for-death.ts";

const cluster = TestCluster.startForFile();
/** Users without privileges. */
const [OWN, OTHER] = [65_534, 12_345];
const become = (uid: number) => ({
  before: ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"],
  cwd: "/",
});
const AUTO = { env: { SIGNALBOX_AGENT: "auto" } };

const startHost = (env: Record<string, string> = {}) =>
  HostAgent.start(cluster, env, { ...become(OWN), owner: OWN });

/** Starts a command of the agent's user that ends when its file is there, and ignores TERM, with a child that does too. */
async function startJob({ namespace, folder }: HostAgent) {
  const go = join(folder, "go");
  const wait = `until [ -e ${go} ]; do sleep 0.05; done`;
  const job = `trap "" TERM; setsid sh -c 'echo $$ >${folder}/pid; echo up; ${wait}' & ${wait}`;
  const run = namespace.startRun("--lock x", ["sh", "-c", job], become(OWN));
  await run.waitForOutput("up");
  return { run, go };
}

/** Starts a run of the agent's user that waits for the job, and prints whether the child of the job lives. */
async function startSecond({ namespace, folder }: HostAgent) {
  const look = `[ -d /proc/$(cat ${folder}/pid) ] && echo alive; id -u`;
  const second = namespace.startRun("--lock x --wait", ["sh", "-c", look], become(OWN));
  await namespace.waitForTicket(second, "waiting", "x");
  return second;
}

describe.runIf(process.getuid?.() === 0)("an agent that is not root", () => {
  test("serves its own user, and is replaced while its commands run", async () => {
    const host = await startHost();
    const { run, go } = await startJob(host);
    const second = await startSecond(host);
    await host.end();
    await host.start(become(OWN));
    writeFileSync(go, "");
    expect(await run.ended).toExit(0, { stderr: "" });
    expect(await second.ended).toPrint(`${OWN}\n`);
    expect(await host.namespace.listTickets()).toEqual([]);
  });

  test.each([
    ["root", {}],
    ["another user", become(OTHER)],
    ["another user in agentAllow", become(OTHER)],
  ])("is not used by %s, also if it would serve them", async (who, as) => {
    const host = await startHost(who.includes("agentAllow") ? { SIGNALBOX_AGENT_ALLOW: String(OTHER) } : {});
    const run = (options: object) => host.namespace.run("-v --lock x", "id -u", options);
    expect(await run(as)).toFail(77, "belongs to another user");
    expect(await run({ ...as, ...AUTO })).toMatchObject({
      code: 0,
      stdout: `${who === "root" ? 0 : OTHER}\n`,
      stderr: expect.stringMatching(/no agent serves this run.*belongs to another user/),
    });
  });

  test.for(["SIGSTOP", "SIGKILL"] as const)(
    "gets %s: its command is dead at the deadline",
    async (signal) => {
      const host = await startHost(SHORT_SESSIONS);
      const { run } = await startJob(host);
      host.signal(signal);
      const other = host.namespace.startRun("--lock x --wait", "id -u", {
        ...become(OTHER),
        env: { SIGNALBOX_AGENT: "never" },
      });
      await waitForDeath(run.mark, SHORT_TTL_MS, run.pid);
      expect(await other.ended).toExit(0);
      host.signal("SIGCONT");
      expect(await run.ended).toExit(125);
    },
  );

  test("kills what is left of a command whose guardians were killed, before it frees the lock", async () => {
    const host = await startHost();
    const { run } = await startJob(host);
    const second = await startSecond(host);
    const guardians = listMarkedProcesses(run.mark).filter(({ name }) => name === GUARDIAN);
    expect(guardians).toHaveLength(2);
    for (const { pid } of guardians) killProcess(pid, "SIGKILL");
    expect(await run.ended).toExit(125);
    expect(await second.ended).toPrint(`${OWN}\n`);
    await waitForDeath(run.mark, 1_000);
  });
});
