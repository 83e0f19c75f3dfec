import { EXPORTER_LISTEN } from "../../../worker/metrics/listen-address.ts";
import {
  CONNECTION_SETTINGS,
  declareCommand,
  declareFlags,
  type FlagsOf,
  LOGGING_SETTINGS,
} from "../../frame/command.ts";

const EXPORTER_FLAGS = declareFlags({
  "--listen [HOST]:PORT": `where to listen (default: ${EXPORTER_LISTEN})`,
});

export type ExporterFlags = FlagsOf<typeof EXPORTER_FLAGS>;

export const exporter = declareCommand({
  id: "exporter",
  topic: "See",
  brief: "serve metrics of the cluster for Prometheus",
  about: [
    "Watches etcd, and serves metrics under /metrics until it is ended: one exporter per cluster is enough. While etcd is unreachable," +
      " signalbox_up is 0, and the other metrics of the cluster are left out, because they would look current.",
    ":PORT listens on every address of this host, PORT only for this host. Everyone who can reach it can read names of locks and" +
      " resources. Under systemd it reports when it is ready; docs/systemd has a unit.",
  ],
  flags: EXPORTER_FLAGS,
  settings: [...CONNECTION_SETTINGS, ...LOGGING_SETTINGS],
  examples: {
    "signalbox exporter": "for a Prometheus on this host",
    "signalbox exporter --listen :9465": "for other hosts too",
  },
  load: () => import("./exporter.impl.ts"),
});
