import { declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";

const SETUP_ETCD_FLAGS = declareFlags({
  "--to FOLDER": "the folder to make, or one that was made for these hosts (default: signalbox-etcd)",
  "--run": "also run its scripts, over ssh as root",
  "--package FILE":
    "with --run: first install this Debian package of signalbox on the hosts, and what it needs",
});

export type SetupEtcdFlags = FlagsOf<typeof SETUP_ETCD_FLAGS>;

export const setupEtcd = declareCommand({
  id: "setup etcd",
  topic: "Configure",
  brief: "set up etcd on Debian hosts, with TLS and users",
  about: [
    "Makes a folder with an authority, a certificate for all members, passwords, and shell scripts that contain what they need of these:" +
      " HOST.sh makes a host a member of a new etcd and configures signalbox on it; users.sh then makes roles and users, turns" +
      " authentication on, and runs signalbox init, which also tests whether this etcd enforces the roles. setup.sh runs them all.",
    "Without --run, nothing else changes, here or on the hosts: read the scripts, then run them as root. Each can be run again, and keeps" +
      " what it finds done. With --run, the exit code is that of setup.sh: 0 only if etcd requires authentication and this host can run jobs.",
    "The hosts need the packages etcd-server and signalbox, this one also openssl (3.0 or later) and etcd-client; --package installs them. A script" +
      " refuses a host whose /etc/default/etcd has settings that it did not write.",
    "The folder can be read by nobody else. Whoever has it can do everything in this etcd.",
  ],
  args: {
    "HOST...":
      "names or addresses of the members, by which all hosts reach them; three or five in production",
  },
  flags: SETUP_ETCD_FLAGS,
  settings: ["prefix"],
  examples: {
    "signalbox setup etcd host1 host2 host3": "into the folder signalbox-etcd",
    "signalbox setup etcd host1 host2 host3 --run --package signalbox_0.1.0_amd64.deb":
      "install all, and start etcd",
  },
  load: () => import("./setup-etcd.impl.ts"),
});
