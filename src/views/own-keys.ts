import type { Keys, ParsedKey } from "../protocol/keys.ts";

/** What a key of signalbox is, and what changes it. */
interface KeyMeaning {
  /** A noun phrase. */
  what: string;
  /** Commands that change it, or who else does. */
  changedBy: string;
}

/** Describes a key under the prefix. @returns undefined for keys of other programs */
export function describeOwnKey(keys: Keys, key: string): KeyMeaning | undefined {
  return key.startsWith(keys.prefix) ? describeParsedKey(keys.parse(key)) : undefined;
}

function describeParsedKey(parsed: ParsedKey): KeyMeaning {
  switch (parsed.kind) {
    case "lock":
    case "resource":
      return {
        what: `ticket for ${parsed.kind} ${parsed.name} of run ${parsed.run}`,
        changedBy: "signalbox reset, signalbox release",
      };
    case "mark":
      return {
        what: `mark for ${parsed.of} ${parsed.name} of run ${parsed.id}`,
        changedBy: "signalbox prune --vanished",
      };
    case "resourceConfig":
      return { what: `configuration of resource ${parsed.name}`, changedBy: "signalbox resource set" };
    case "group":
      return { what: `group ${parsed.name}`, changedBy: "signalbox group set" };
    case "calendar":
      return { what: `calendar ${parsed.name}`, changedBy: "signalbox calendar add" };
    case "schema":
      return { what: "required schema version", changedBy: "etcdctl, as docs/versioning.md says" };
    case "schedule":
      return { what: `definition of schedule ${parsed.name}`, changedBy: "signalbox schedule edit" };
    case "due":
      return {
        what: `next time of schedule ${parsed.name}${formatHost(parsed)}`,
        changedBy: "signalbox schedule trigger",
      };
    case "outcomes":
      return {
        what: `outcomes of schedule ${parsed.name}${formatHost(parsed)}`,
        changedBy: "signalbox schedule bury",
      };
    case "running":
      return {
        what: `running occurrence of schedule ${parsed.name}${formatHost(parsed)}`,
        changedBy: "only its worker",
      };
    case "checkpoint":
      return {
        what: `checkpoint of an occurrence of schedule ${parsed.name}${formatHost(parsed)}`,
        changedBy: "only its worker",
      };
    case "worker":
      return { what: `worker ${parsed.name}`, changedBy: "only the worker" };
    case "host":
      return { what: `record of host ${parsed.name}`, changedBy: "signalbox prune --hosts AGE" };
    case "agentSession":
      return { what: `session of the agent of ${parsed.name}`, changedBy: "only the agent" };
    case "agentReport":
      return { what: `report of the agent of ${parsed.name}`, changedBy: "only the agent" };
    case "history":
      return { what: `history of lock ${parsed.name}`, changedBy: "only its runs" };
    case "drain":
      return {
        what: `drain of ${parsed.scope} ${parsed.name}`,
        changedBy: "signalbox drain, signalbox undrain",
      };
    case "audit":
      return { what: "record of an operator's action", changedBy: "signalbox prune --audit AGE" };
    case "receipt":
      return { what: "receipt of a program that adds jobs", changedBy: "only the program" };
    case "outputRequest":
      return { what: `request for the output of run ${parsed.run}`, changedBy: "signalbox logs" };
    case "outputChunk":
      return { what: "output on its way to a viewer", changedBy: "signalbox logs" };
    case "unknown":
      return { what: "key that signalbox does not know", changedBy: "etcdctl" };
  }
}

function formatHost({ host }: { host?: string }): string {
  return host === undefined ? "" : ` on ${host}`;
}
