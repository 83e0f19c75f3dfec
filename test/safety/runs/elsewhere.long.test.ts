/** Containers that their daemon starts outside of the cgroup of their run. */
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { startDockerStandIn } from "../../../fixtures/process/fake-docker.ts";
import { CGROUPS, canCreateCgroups, createCgroupHome } from "../../../fixtures/process/guarded-processes.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

describe.runIf(canCreateCgroups)("a container elsewhere", () => {
  const WORDS = [
    "docker",
    "run",
    "job",
    "trap 'exit 5' TERM; i=0; while [ $i -lt 15 ]; do sleep 1; i=$((i+1)); done",
  ];

  test.for([
    ["is told", "--container", 0, "can outlive the lock\n"],
    ["is told to those who have asked for nothing", "", 0, "add --container\n"],
    ["ends the run if it shall", "--container=end", 125, "no process of its container"],
  ] as const)("%s", async ([, option, code, text], { namespace }) => {
    const { before, path } = createCgroupHome();
    const { env } = await startDockerStandIn({ places: path.slice(CGROUPS.length) });
    const run = await namespace.run(`--lock x ${option}`, WORDS, { before, env });
    expect(run).toExit(code, { stderr: text });
  });
});
