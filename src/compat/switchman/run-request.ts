import { parseDuration } from "../../base/duration.ts";
import { ConfigError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { findQueuedRun } from "../../commands/run/queued.ts";
import { createCall, type RunInvocation } from "../../commands/run/run-invocation.ts";
import { resolveConfig } from "../../config/config.ts";
import type { Env } from "../../config/files.ts";
import { createValueLayer } from "../../config/layers.ts";
import type { SwitchmanCall } from "../../syntax/switchman-call.ts";
import { hasEndpoints } from "../endpoints.ts";
import type { SwitchmanConfig } from "./config.ts";
import type { SwitchmanLog } from "./log.ts";
import { buildSwitchmanOptions, type SwitchmanOptions } from "./switchman-options.ts";
import { removeZeroLeases } from "./zero-leases.ts";

/** Builds the run of a switchman line. @throws ConfigError if no endpoints are configured */
export function buildSwitchmanRequest(
  line: SwitchmanCall,
  config: SwitchmanConfig,
  log: SwitchmanLog,
  env: Env,
): RunInvocation {
  const call = removeZeroLeases(line, env);
  const parsed = buildSwitchmanOptions(call, config);
  if (parsed.needsEndpoints && !hasEndpoints(env)) throw createEndpointsError(config);
  const isLeasing = call.leases.length > 0;
  return {
    call: createCall(parsed.flags, parsed.command),
    options: createValueLayer(removeUnneededTtl(parsed.settings, env)),
    openLog: () => log.sink,
    onGrant: () => log.write("info", `Executing <${call.command.join(" ")}>`),
    overrides: { isKnownOnly: isLeasing },
    ...(isLeasing && call.lock === undefined && { checkFirst: findQueuedRun }),
  };
}

function createEndpointsError({ path }: SwitchmanConfig): ConfigError {
  return new ConfigError(
    `${clean(path)} has only zkhosts, the addresses of ZooKeeper; add "etcdhosts": "etcd1:2379,etcd2:2379" to it, give` +
      " --endpoints, or set SIGNALBOX_ENDPOINTS",
  );
}

/** Removes the ttl if the configured one is long enough. */
function removeUnneededTtl(
  { ttl, ...others }: SwitchmanOptions["settings"],
  env: Env,
): SwitchmanOptions["settings"] {
  if (ttl === undefined) return others;
  const needed = parseDuration(String(ttl.value));
  const configured = resolveConfig({ env }).values.ttl;
  return "value" in needed && needed.value <= configured ? others : { ttl, ...others };
}
