import { chalk, echo } from "zx";
import { EtcdMissingError, findEtcd, startCluster } from "../fixtures/etcd/index.ts";
import { readArguments, refuseArguments } from "./arguments.ts";

const HELP = `npm run etcd -- [start|cluster|path]

Starts a temporary etcd for experiments, of one member or of three. It runs until Ctrl+C, and its data are removed.
path prints where the programs are. ETCD_VERSION=3.5.30 selects a version.`;

const { positionals } = readArguments(HELP, {});
try {
  await run(positionals[0] ?? "start");
} catch (error) {
  if (!(error instanceof EtcdMissingError)) throw error;
  console.error(error.message);
  process.exitCode = 69;
}

async function run(command: string): Promise<void> {
  switch (command) {
    case "path": {
      const { etcd, etcdctl } = await findEtcd();
      echo(`ETCD_BIN=${etcd}`);
      echo(`ETCDCTL=${etcdctl}`);
      break;
    }
    case "start":
    case "cluster":
      await serve(command === "cluster" ? 3 : 1);
      break;
    default:
      refuseArguments(HELP, `unknown command: ${command}`);
  }
}

async function serve(size: number): Promise<void> {
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
  const etcd = await startCluster(size, { electionMs: 1000 });
  const endpoints = etcd.endpoints.join(",");
  echo(`export ETCDCTL_API=3 ETCDCTL_ENDPOINTS=${endpoints}`);
  echo(`export SIGNALBOX_ENDPOINTS=${endpoints}`);
  console.error(
    chalk.dim(`etcd is ready (${size === 1 ? "one member" : `${size} members`}); Ctrl+C ends it`),
  );
  await interrupted;
  await etcd.stop();
}
