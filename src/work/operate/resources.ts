import { UsageError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import { evaluateUnits } from "../../fleet/arithmetic.ts";
import type { Macros } from "../../fleet/macros.ts";
import { parseResource, type ResourceConfig, resourceText } from "../../fleet/resources.ts";
import { checkedName } from "../../protocol/names.ts";
import type { ObserverPorts } from "../observe/ports.ts";
import { readAll } from "../observe/read.ts";
import { act } from "./act.ts";
import type { OperatorPorts } from "./ports.ts";

export type NamedResource = ResourceConfig & { name: string };

/**
 * Sets a resource's configuration.
 * @param macros  of this host, to try the total with
 * @throws UsageError when the total is no positive whole number here, StoreError
 */
export async function setResource(
  ports: OperatorPorts,
  macros: Macros,
  name: string,
  config: ResourceConfig,
): Promise<void> {
  checkedName("resource", name);
  const total = evaluateUnits(config.total, macros.lookup);
  if ("fault" in total) throw new UsageError(`total ${quoted(config.total)}: ${total.fault}`);
  await act(ports, {
    ...{ action: "resource", target: `resource ${name}`, seen: 0n, outcome: "set", compare: [] },
    ops: [{ op: "put", key: ports.keys.resourceConfig(name), value: resourceText(config) }],
  });
}

/** Configured resources, in their order; a malformed one says so in its total. */
export async function listResources(ports: ObserverPorts): Promise<NamedResource[]> {
  const kvs = await readAll(ports, ports.keys.resourceConfigs());
  const resources = kvs.flatMap((kv): NamedResource[] => {
    const key = ports.keys.parse(kv.key);
    if (key.kind !== "resourceConfig") return [];
    const parsed = parseResource(kv.value);
    return [
      { name: key.name, ...("fault" in parsed ? { total: "malformed", note: parsed.fault } : parsed.value) },
    ];
  });
  return resources.sort((a, b) => (a.order ?? 0) - (b.order ?? 0) || (a.name < b.name ? -1 : 1));
}
