import { UsageError } from "../../base/errors.ts";
import { collectTexts, quoteText } from "../../base/text.ts";
import { resolveConfig } from "../../config/config.ts";
import type { Env } from "../../config/files.ts";
import { thisMachine } from "../../config/machine.ts";
import { getFlagName, type SettingKey } from "../../config/settings.ts";
import { evaluateExpression, type MacroLookup } from "../../fleet/arithmetic.ts";
import { readHostFacts } from "../../fleet/host.ts";
import { createMacros } from "../../fleet/macros.ts";
import { parseSwitchman, type SwitchmanCall } from "../../syntax/switchman-call.ts";
import type { LineTranslator } from "../translated-run.ts";
import {
  buildSwitchmanOptions,
  DEFAULT_CONFIG,
  parseSwitchmanConfig,
  type SwitchmanConfig,
  type SwitchmanOptions,
  type SwitchmanSetting,
  toSignalboxLevel,
} from "./options.ts";

/** Replaces a configuration file that is not available: its settings are left to the signalbox configuration. */
const UNKNOWN_CONFIG: SwitchmanConfig = {
  path: DEFAULT_CONFIG,
  etcdhosts: undefined,
  etcdprefix: undefined,
  logfile: undefined,
  loglevel: "info",
  resourcesWaitTimeout: 0,
  terminationTimeout: undefined,
};

/** Translates a line of switchman to `signalbox run`. @throws UsageError, ConfigError if switchman would refuse it */
export const translateSwitchman: LineTranslator = (words, { files }) => {
  const call = removeZeros(parseSwitchman(words), () => undefined); // without the options whose value is 0 on every host
  if (call.asks !== undefined) throw new UsageError(`switchman: the line only prints the ${call.asks}`);
  const path = call.config ?? DEFAULT_CONFIG;
  const text = files.get(path);
  const config = text === undefined ? undefined : parseSwitchmanConfig(path, text);
  const parsed = buildSwitchmanOptions(call, config ?? UNKNOWN_CONFIG);
  return {
    options: buildRunFlags(parsed, config),
    command: parsed.command,
    notes: buildNotes(call, parsed, config, path),
  };
};

function buildRunFlags(
  { flags, settings, command }: SwitchmanOptions,
  config: SwitchmanConfig | undefined,
): string[] {
  const { lock: [lock] = [], lease } = flags;
  const [file = ""] = command;
  const isUsual = lock === file.slice(file.lastIndexOf("/") + 1);
  const log = config?.logfile;
  return [
    "-E",
    "0",
    ...(lock === undefined ? ["--no-lock"] : isUsual ? [] : ["--lock", lock]),
    ...lease.flatMap((one) => ["--lease", one]),
    ...Object.entries(settings).flatMap(([key, wanted]) => formatFlag(key as SettingKey, wanted)),
    ...(log === undefined
      ? []
      : ["--log-file", log, "--log-level", toSignalboxLevel(config?.loglevel ?? "info")]),
  ];
}

function formatFlag(key: SettingKey, setting: SwitchmanSetting | undefined): string[] {
  if (setting === undefined) return [];
  const { value } = setting;
  const text = typeof value === "string" ? value : value.join(",");
  return key === "group" ? ["-g", text] : [getFlagName(key) ?? "", text];
}

function buildNotes(
  call: SwitchmanCall,
  { needsEndpoints, flags }: SwitchmanOptions,
  config: SwitchmanConfig | undefined,
  path: string,
): string[] {
  const file = quoteText(path);
  const isFileNamed = call.config !== undefined;
  return collectTexts([
    config === undefined &&
      `${file} was not read, so its timeouts and its log are not in the new line; run this on a host that has the file`,
    needsEndpoints && "signalbox's own configuration must say where etcd is",
    isFileNamed &&
      config !== undefined &&
      config.etcdprefix === undefined &&
      `the prefix in ${file} no longer separates locks; if two files have different prefixes, add --prefix`,
    call.leases.some(canBeZero) &&
      "if a lease evaluates to 0 units, signalbox run refuses it (64), and switchman runs without it: write max(1, ...)",
    config?.logfile !== undefined &&
      "warnings go only to the log, and no longer to standard error; the format of its lines differs",
    flags["no-lock"] &&
      (call.leases.length > 0
        ? "each run queues for the lease, even if a run of this name already waits for it"
        : "without lock and lease, a run holds one unit of a resource of its own"),
  ]);
}

/**
 * Removes leases that evaluate to 0 units on this host (`FQDN_cpu=int(CPU/4):CPU` with three CPUs): switchman runs
 * such a command without holding the resource.
 */
export function removeZeroLeases(call: SwitchmanCall, env: Env): SwitchmanCall {
  if (call.leases.length === 0) return call;
  const { host, macros } = resolveConfig({ env }).values;
  const { lookup } = createMacros(readHostFacts(thisMachine, { host, macros }));
  return removeZeros(call, lookup);
}

function removeZeros(call: SwitchmanCall, lookup: MacroLookup): SwitchmanCall {
  const leases = call.leases.filter((lease) => {
    const units = evaluateExpression(getUnitsText(lease), lookup);
    return !("value" in units && units.value === 0);
  });
  return { ...call, leases };
}

/** Whether the units of a lease may be 0 on some host. */
function canBeZero(lease: string): boolean {
  return /[-/%]|\b(?:int|floor|round|min)\b/.test(getUnitsText(lease));
}

/** Returns the units of a lease as text: `4` for `mem=4:int(MEMMB/1024)`. */
function getUnitsText(lease: string): string {
  return /^[^=]*=([^:]*)/.exec(lease)?.[1] ?? "";
}
