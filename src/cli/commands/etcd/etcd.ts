import { declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { JSON_FLAGS } from "../../frame/command-line/flags.ts";
import { createCountParser } from "../../frame/command-line/values.ts";

const members = declareCommand({
  id: "etcd members",
  topic: "See",
  brief: "the members of etcd: leader, lag, database, alarms, latency",
  about: [
    "Asks every endpoint once. A member that does not answer has a row with the reason; the command fails with 69 only if none answers." +
      " LAG is how many raft entries the leader has more. The quota is known if the member publishes its metrics on its client address." +
      " IN USE is missing with an etcd or a transport that does not report it. LATENCY includes the time to connect.",
    "If etcd has users, later releases show the status of a member only to the user root.",
  ],
  flags: JSON_FLAGS,
  examples: {
    "signalbox etcd members": "is a member behind, or its database full?",
    "signalbox etcd members --json | jq '.members[] | select(.lag > 1000)'": "for programs",
  },
  load: async () => (await import("./cluster.impl.ts")).showMembers,
});

/** Sessions and keys that are shown by default. */
export const DEFAULT_LIMIT = 100;

const SESSIONS_FLAGS = declareFlags({
  "--limit N": {
    parse: createCountParser(1),
    help: `ask for at most N sessions (default: ${DEFAULT_LIMIT})`,
  },
  ...JSON_FLAGS,
});

export type SessionsFlags = FlagsOf<typeof SESSIONS_FLAGS>;

const sessions = declareCommand({
  id: "etcd sessions",
  topic: "See",
  brief: "the leases of etcd: time left, whose they are, their keys",
  about: [
    "A session is etcd's lease, under which the keys of a run, worker or agent live. Those of other programs are shown too, with their keys" +
      " as they are. Each session takes etcd some requests, so only --limit of them are read, and the others are counted.",
  ],
  flags: SESSIONS_FLAGS,
  examples: {
    "signalbox etcd sessions": "which runs, workers and agents are connected?",
    "signalbox etcd sessions --limit 1000 --json | jq '.sessions[] | select(.kind == \"empty\")'":
      "sessions without keys",
  },
  load: async () => (await import("./cluster.impl.ts")).showSessions,
});

const users = declareCommand({
  id: "etcd users",
  topic: "See",
  brief: "the users of etcd, their roles, and what these allow",
  about: [
    "etcd shows users and roles only to users with the role root; others are refused (77). If authentication is off, the first line says so.",
  ],
  flags: JSON_FLAGS,
  examples: {
    "signalbox etcd users": "who may write which keys?",
    "signalbox etcd users --json | jq -r '.users[] | select(.roles | index(\"root\")) | .name'":
      "who may do everything?",
  },
  load: async () => (await import("./cluster.impl.ts")).showUsers,
});

const BASE64_FLAG = declareFlags({
  "--base64": "keys on this command line are in base64; use it for keys that are not text",
});
const REVISION_FLAG = declareFlags({ "--rev REVISION": "at this earlier revision of etcd" });
const TEXT =
  "On a terminal and in text, JSON is indented, and what is not text is shown as a hexadecimal dump. With --json, bytes that are not valid" +
  " UTF-8 are base64, in fields with other names (keyBase64, valueBase64).";

const KEYS_FLAGS = declareFlags({
  "--values": "also their values",
  "--limit N": {
    parse: createCountParser(1, 10_000),
    help: `at most N keys (default: ${DEFAULT_LIMIT}; at most 10000)`,
  },
  "--after KEY": "only keys behind this one: the next page",
  ...REVISION_FLAG,
  ...BASE64_FLAG,
  ...JSON_FLAGS,
});

export type KeysFlags = FlagsOf<typeof KEYS_FLAGS>;

const keys = declareCommand({
  id: "etcd keys",
  topic: "See",
  brief: "keys in etcd with any prefix: size, revisions, lease, values",
  about: [
    "Also keys of other programs. All keys of a page are of one revision. If more follow, a note says how to print the next page, and --json has" +
      " `next`; with --rev, all pages are of the same revision.",
    TEXT,
  ],
  args: { "[PREFIX]": "beginning of the keys (default: all keys)" },
  flags: KEYS_FLAGS,
  examples: {
    "signalbox etcd keys /registry/": "the first 100 keys of another program",
    "signalbox etcd keys /app/ --values --limit 10": "with their values",
    "signalbox etcd keys /app/ --after /app/web --json | jq -r '.keys[].key'": "for programs",
  },
  load: async () => (await import("./keys.impl.ts")).showKeys,
});

const GET_FLAGS = declareFlags({
  "--previous": "also the value before, as differences",
  "--raw": "only the value, byte for byte",
  ...REVISION_FLAG,
  ...BASE64_FLAG,
  ...JSON_FLAGS,
});

export type GetFlags = FlagsOf<typeof GET_FLAGS>;

const get = declareCommand({
  id: "etcd get",
  topic: "See",
  brief: "one key in etcd: value, revisions, lease, and what it was before",
  about: [`Fails with 1 if there is no such key. ${TEXT}`],
  args: { KEY: "the key" },
  flags: GET_FLAGS,
  examples: {
    "signalbox etcd get /app/config": "its value",
    "signalbox etcd get /app/config --previous": "what did the last change change?",
    "signalbox etcd get /app/config --rev 88140": "what it was at a revision",
    "signalbox etcd get /app/cert --raw > cert.der": "into a file",
  },
  load: async () => (await import("./keys.impl.ts")).showKey,
});

export const ETCD_COMMANDS = [members, sessions, users, keys, get] as const;
