import { UsageError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import { flagOf, type SettingKey } from "../../config/settings.ts";
import { parseSwitchman, type SwitchmanCall } from "../../fleet/switchman-words.ts";
import type { AsRun, Translate } from "../as-run.ts";
import { DEFAULT_CONFIG, parseConfig, type SwitchmanConfig } from "./config.ts";
import { ourLevel } from "./levels.ts";
import { type SwitchmanWish, type Wanted, wishOf } from "./wish.ts";

/** Where a line's configuration file is not at hand: what it would say is left to signalbox's own configuration. */
const UNSEEN: SwitchmanConfig = {
  ...{ path: DEFAULT_CONFIG, etcdhosts: undefined, etcdprefix: undefined },
  ...{ logfile: undefined, loglevel: "info", resourcesWaitTimeout: 0, terminationTimeout: undefined },
};

/** A line of switchman as one of `signalbox run`. @throws UsageError, ConfigError where switchman would refuse it */
export const asRun: Translate = (words, _variables, files = new Map()): AsRun => {
  const call = parseSwitchman(words);
  if (call.asks !== undefined) throw new UsageError(`switchman: it only asks for ${call.asks}`);
  const path = call.config ?? DEFAULT_CONFIG;
  const text = files.get(path);
  const config = text === undefined ? undefined : parseConfig(path, text);
  const wish = wishOf(call, config ?? UNSEEN);
  return {
    options: optionsOf(wish, config),
    command: wish.command,
    notes: notesOf(call, wish, config, path),
  };
};

function optionsOf(
  { flags, settings, command }: SwitchmanWish,
  config: SwitchmanConfig | undefined,
): string[] {
  const { lock, lease } = flags;
  const [file = ""] = command;
  const isUsual = lock === file.slice(file.lastIndexOf("/") + 1);
  const log = config?.logfile;
  return [
    ...["-E", "0"],
    ...(lock === undefined ? ["--no-lock"] : isUsual ? [] : ["--lock", lock]),
    ...lease.flatMap((one) => ["--lease", one]),
    ...Object.entries(settings).flatMap(([key, wanted]) => flagWords(key as SettingKey, wanted)),
    ...(log === undefined ? [] : ["--log-file", log, "--log-level", ourLevel(config?.loglevel ?? "info")]),
  ];
}

function flagWords(key: SettingKey, { value }: Wanted): string[] {
  const text = typeof value === "string" ? value : value.join(",");
  return key === "group" ? ["-g", text] : [flagOf(key) ?? "", text];
}

function notesOf(
  call: SwitchmanCall,
  { needsEndpoints, flags }: SwitchmanWish,
  config: SwitchmanConfig | undefined,
  path: string,
): string[] {
  const file = quoted(path);
  const own = call.leases.length > 0;
  return [
    ...(config === undefined
      ? [
          `${file} was not read: its timeouts and its log are not in the new line; do this on a host that has it`,
        ]
      : []),
    ...(needsEndpoints ? ["signalbox's own configuration must say where etcd is"] : []),
    ...(call.config !== undefined && config !== undefined && config.etcdprefix === undefined
      ? [`the prefix in ${file} keeps nothing apart any more; where two files differ in it, add --prefix`]
      : []),
    ...(config?.logfile === undefined
      ? []
      : ["warnings go to the log alone, and no longer to standard error too; its lines look otherwise"]),
    ...(flags["no-lock"] && own
      ? ["each run queues for the lease, also where one of this name waits for it already"]
      : []),
    ...(flags["no-lock"] && !own
      ? ["without lock and lease, a run holds one unit of a resource of its own"]
      : []),
  ];
}
