import { type Argv, type Bed, ran } from "./bed.ts";
import { note, table } from "./figures.ts";

/** What a run costs etcd: entries of its raft log, as its own status counts them. Each is written to disk by a majority. */
export async function proposals(bed: Bed): Promise<void> {
  const times = bed.quick ? 3 : 10;
  const name = "bench-proposals";
  const subjects: [what: string, argv: Argv][] = [
    ["run --lock", bed.signalbox("run", "--lock", name, "--", "true")],
    ["run --lock --no-history", bed.signalbox("run", "--lock", name, "--no-history", "--", "true")],
    ["run --lock --lease", bed.signalbox("run", "--lock", name, "--lease", "bench=1:2", "--", "true")],
    ["run --no-lock --lease", bed.signalbox("run", "--no-lock", "--lease", "bench=1:2", "--", "true")],
    ["etcdctl lock", bed.etcdctlLock(name, "true")], // last: its session is left to expire, which is an entry more
  ];
  const rows: string[][] = [];
  for (const [what, argv] of subjects) {
    const counts: bigint[] = [];
    for (let i = 0; i < times; i += 1) counts.push(await cost(bed, argv));
    rows.push([what, [...new Set(counts)].join(", "), String(times)]);
  }
  table("Raft proposals of an uncontended run", ["", "proposals", "runs"], rows);
  note("`etcdctl lock` leaves its session to expire; that is one proposal more, a minute later.");
}

async function cost(bed: Bed, argv: Argv): Promise<bigint> {
  const before = await raftIndex(bed);
  ran(argv, bed.env);
  return (await raftIndex(bed)) - before;
}

/** Entries of etcd's raft log so far. */
export async function raftIndex({ store }: Bed): Promise<bigint> {
  const [status] = await store.status();
  if (!status?.ok) throw new Error("etcd does not tell its status");
  return status.raftIndex;
}
