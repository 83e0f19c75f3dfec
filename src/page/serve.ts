import {
  CONNECTION_SETTINGS,
  declareCommand,
  declareFlags,
  type FlagsOf,
  LOGGING_SETTINGS,
} from "../cli/frame/command.ts";

/** The examples use 9464 for workers. */
export const DEFAULT_ADDRESS = "127.0.0.1:9465";

const SERVE_FLAGS = declareFlags({
  "--listen [HOST]:PORT": `where to listen (default: ${DEFAULT_ADDRESS})`,
  "--token-file FILE":
    "ask for the token in this file: as the password of any user in a browser, or as a bearer token",
  "--trusted-header NAME":
    "with --trusted-proxy: the header in which the proxy states the user whom it has let in",
  "--trusted-proxy ADDRESS": {
    isRepeatable: true,
    help: "with --trusted-header: take requests from this address, or network such as 10.0.0.0/8, only",
  },
  "--open": "let everyone who can connect read everything",
  "--host-name NAME": {
    isRepeatable: true,
    help: "also answer requests for this name (default: addresses, localhost, and the names of this host)",
  },
  "--base-path PATH": "the path under which a proxy shows the page, such as /jobs",
  "--show-output": "also show the last lines of output that are kept of runs",
});

export type ServeFlags = FlagsOf<typeof SERVE_FLAGS>;

export const serve = declareCommand({
  id: "serve",
  topic: "See",
  brief: "serve a page to look at, and metrics for Prometheus",
  about: [
    "Watches etcd, and serves a page that changes nothing until it is ended: one process per cluster is enough for all viewers. The same" +
      " addresses answer JSON, as ls --json and show --json print it, if their path ends in .json. /check/lock/NAME, /check/schedule/NAME" +
      " and /check (all schedules, and all locks with a history) answer 200 or 503 with the text of signalbox check; /badge/schedule/NAME.svg is a picture of it.",
    "/metrics has metrics of the cluster for Prometheus. While etcd is unreachable, signalbox_up is 0, and the other metrics of the cluster" +
      " are left out, because they would look current.",
    ":PORT listens on every address of this host, PORT only for this host, as by default. Any other address needs --token-file," +
      " --trusted-header with --trusted-proxy, or --open. The page has no TLS: a proxy in front of it does (docs/page.md). Under systemd it" +
      " reports when it is ready; docs/systemd has a unit. A user of etcd that only reads is enough.",
  ],
  flags: SERVE_FLAGS,
  settings: [...CONNECTION_SETTINGS, ...LOGGING_SETTINGS],
  examples: {
    "signalbox serve": "for browsers and a Prometheus on this host: http://localhost:9465",
    "signalbox serve --listen :9465 --token-file /etc/signalbox/page-token":
      "for other hosts too, with a token",
    "signalbox serve --listen :9465 --open": "for everyone who can connect",
    "signalbox serve --base-path /jobs --host-name www.example.com":
      "behind a proxy on this host, which asks for passwords",
  },
  load: () => import("./serve.impl.ts"),
});
