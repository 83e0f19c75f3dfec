/**
 * A throw-away etcd for trying things out: `npm run etcd -- [start|cluster|path]`.
 * It runs until Ctrl+C and leaves nothing.
 */
import { argv, chalk, echo } from "zx";
import { findEtcd, startCluster } from "../fixtures/etcd/index.ts";

const [command = "start"] = argv._;
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
    console.error(`unknown command ${JSON.stringify(command)}: use start, cluster or path`);
    process.exitCode = 64;
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
