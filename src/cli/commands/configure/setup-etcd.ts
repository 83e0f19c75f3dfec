import { declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";

const SETUP_ETCD_FLAGS = declareFlags({
  "--to FOLDER": "the folder to make (default: signalbox-etcd)",
});

export type SetupEtcdFlags = FlagsOf<typeof SETUP_ETCD_FLAGS>;

export const setupEtcd = declareCommand({
  id: "setup etcd",
  topic: "Configure",
  brief: "write scripts that set up etcd on Debian hosts, with TLS and users",
  about: [
    "Makes a folder with an authority, a certificate for all members, passwords, and shell scripts that contain what they need of these:" +
      " HOST.sh makes a host a member of a new etcd and configures signalbox on it; users.sh then makes roles and users, and turns" +
      " authentication on, and runs signalbox init, which also tests whether this etcd enforces the roles. Changes nothing else, here or on the hosts. Read the scripts, then run them as root.",
    "The hosts need the packages etcd-server and signalbox, this one also openssl (3.0 or later) and etcd-client. A script" +
      " refuses a host whose /etc/default/etcd has settings that it did not write.",
    "The folder can be read by nobody else, and must not exist yet. Whoever has it can do everything in this etcd.",
  ],
  args: {
    "HOST...":
      "names or addresses of the members, by which all hosts reach them; three or five in production",
  },
  flags: SETUP_ETCD_FLAGS,
  settings: ["prefix"],
  examples: {
    "signalbox setup etcd host1 host2 host3": "into the folder signalbox-etcd",
  },
  load: () => import("./setup-etcd.impl.ts"),
});
