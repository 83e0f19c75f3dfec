import { type Argv, type BenchCluster, runProgram } from "./bench-cluster.ts";
import { printNote, printTable } from "./figures.ts";

/** Measures the entries of etcd's raft log per run. A majority of members writes each entry to disk. */
export async function benchmarkProposals(cluster: BenchCluster): Promise<void> {
  const times = cluster.quick ? 3 : 10;
  const name = "bench-proposals";
  const subjects: [what: string, argv: Argv][] = [
    ["run --lock", cluster.buildSignalboxArgv("run", "--lock", name, "--", "true")],
    [
      "run --lock --no-history",
      cluster.buildSignalboxArgv("run", "--lock", name, "--no-history", "--", "true"),
    ],
    [
      "run --lock --lease",
      cluster.buildSignalboxArgv("run", "--lock", name, "--lease", "bench=1:2", "--", "true"),
    ],
    [
      "run --no-lock --lease",
      cluster.buildSignalboxArgv("run", "--no-lock", "--lease", "bench=1:2", "--", "true"),
    ],
    ["etcdctl lock", cluster.buildEtcdctlArgv(name, "true")], // last, because its session expires later, which adds an entry
  ];
  const rows: string[][] = [];
  for (const [what, argv] of subjects) {
    const counts: bigint[] = [];
    for (let i = 0; i < times; i += 1) counts.push(await measureProposalCost(cluster, argv));
    rows.push([what, [...new Set(counts)].join(", "), String(times)]);
  }
  printTable("Raft proposals of an uncontended run", ["", "proposals", "runs"], rows);
  printNote("`etcdctl lock` does not end its session; its expiry is one more proposal, a minute later.");
}

async function measureProposalCost(cluster: BenchCluster, argv: Argv): Promise<bigint> {
  const before = await readRaftIndex(cluster);
  runProgram(argv, cluster.env);
  return (await readRaftIndex(cluster)) - before;
}

/** Reads the index of etcd's raft log. */
export async function readRaftIndex({ store }: BenchCluster): Promise<bigint> {
  const [status] = await store.readMemberStatuses();
  if (!status?.ok) throw new Error("cannot read the status of etcd");
  return status.raftIndex;
}
