import { EXPORTER_LISTEN } from "../../../work/worker/metrics/listen-address.ts";
import { CONNECTION_SETTINGS, type Command, LOGGING_SETTINGS } from "../../spec.ts";

export const exporter: Command = {
  id: "exporter",
  topic: "See",
  brief: "serve figures of the cluster to Prometheus",
  about: [
    "Follows etcd, and serves it as figures under /metrics until it is ended: one for a cluster is enough. While etcd is away" +
      " signalbox_up is 0, and what was known before is not served: it would look like news.",
    ":PORT listens on every address of this host, PORT only for this host. Whoever can reach it reads names of locks and" +
      " resources. Under systemd it says when it is ready; a unit is in docs/systemd.",
  ],
  flags: [{ name: "listen", value: "[HOST]:PORT", help: `where to listen (default: ${EXPORTER_LISTEN})` }],
  settings: [...CONNECTION_SETTINGS, ...LOGGING_SETTINGS],
  examples: [
    ["signalbox exporter", "for a Prometheus on this host"],
    ["signalbox exporter --listen :9465", "for others too"],
  ],
  load: () => import("./exporter.impl.ts"),
};
