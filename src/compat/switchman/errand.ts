import { parseDuration } from "../../base/duration.ts";
import { ConfigError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { callOf, type Errand } from "../../commands/run/errand.ts";
import { queuedAlready } from "../../commands/run/queued.ts";
import { resolveConfig } from "../../config/config.ts";
import type { Env } from "../../config/files.ts";
import { gatheredLayer } from "../../config/layers.ts";
import type { SwitchmanCall } from "../../fleet/switchman-words.ts";
import { hasEndpoints } from "../endpoints.ts";
import type { SwitchmanConfig } from "./config.ts";
import type { SwitchmanLog } from "./log.ts";
import { type SwitchmanWish, wishOf } from "./wish.ts";

/** A line of switchman as an errand of ours. @throws ConfigError where nothing says where etcd is */
export function errandOf(call: SwitchmanCall, config: SwitchmanConfig, log: SwitchmanLog, env: Env): Errand {
  const wish = wishOf(call, config);
  if (wish.needsEndpoints && !hasEndpoints(env)) throw withoutEndpoints(config);
  const isLeasing = call.leases.length > 0;
  return {
    call: callOf(wish.flags, wish.command),
    options: gatheredLayer(withLongerTtl(wish.settings, env)),
    openLog: () => log.sink,
    onGrant: () => log.write("info", `Executing <${call.command.join(" ")}>`),
    manner: { isKnownOnly: isLeasing },
    ...(isLeasing && call.lock === undefined && { before: queuedAlready }),
  };
}

function withoutEndpoints({ path }: SwitchmanConfig): ConfigError {
  return new ConfigError(
    `${clean(path)} has only zkhosts, which is ZooKeeper; add "etcdhosts": "etcd1:2379,etcd2:2379" to it, give` +
      " --endpoints, or set SIGNALBOX_ENDPOINTS",
  );
}

/** A time to live that somebody has set for all runs stays where it is long enough. */
function withLongerTtl({ ttl, ...others }: SwitchmanWish["settings"], env: Env): SwitchmanWish["settings"] {
  if (ttl === undefined) return others;
  const needed = parseDuration(String(ttl.value));
  const configured = resolveConfig({ env }).values.ttl;
  return "value" in needed && needed.value <= configured ? others : { ttl, ...others };
}
