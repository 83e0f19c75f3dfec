import { resolveConfig } from "../../config/config.ts";
import type { Env } from "../../config/files.ts";
import { thisMachine } from "../../config/machine.ts";
import { evaluateExpression, type MacroLookup } from "../../fleet/arithmetic.ts";
import { readHostFacts } from "../../fleet/host.ts";
import { createMacros } from "../../fleet/macros.ts";
import type { SwitchmanCall } from "../../syntax/switchman-call.ts";

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

/** Removes leases that are 0 on every host. */
export function removePlainZeroLeases(call: SwitchmanCall): SwitchmanCall {
  return removeZeros(call, () => undefined);
}

function removeZeros(call: SwitchmanCall, lookup: MacroLookup): SwitchmanCall {
  const leases = call.leases.filter((lease) => {
    const units = evaluateExpression(getUnitsText(lease), lookup);
    return !("value" in units && units.value === 0);
  });
  return { ...call, leases };
}

/** Whether the units of a lease may be 0 on some host. */
export function canBeZero(lease: string): boolean {
  return /[-/%]|\b(?:int|floor|round|min)\b/.test(getUnitsText(lease));
}

/** Returns the units of a lease as text: `4` for `mem=4:int(MEMMB/1024)`. */
function getUnitsText(lease: string): string {
  return /^[^=]*=([^:]*)/.exec(lease)?.[1] ?? "";
}
