import { UsageError } from "../../base/errors.ts";
import { groupNotes } from "../../fleet/group-notes.ts";
import { checkedMembers, groupText, parseGroup } from "../../fleet/groups.ts";
import { checkedName } from "../../protocol/names.ts";
import type { ObserverPorts } from "../observe/ports.ts";
import { readAll } from "../observe/read.ts";
import { act } from "./act.ts";
import type { OperatorPorts } from "./ports.ts";

/**
 * Creates or replaces a group.
 * @returns what an operator should know about the groups as they are now, such as cycles
 * @throws UsageError, StoreError
 */
export async function setGroup(
  ports: OperatorPorts,
  name: string,
  members: readonly string[],
): Promise<{ notes: string[] }> {
  checkedName("group", name);
  const checked = checkedMembers(JSON.stringify(members));
  if ("fault" in checked) throw new UsageError(checked.fault);
  const others = await listGroups(ports);
  await act(ports, {
    ...{ action: "group", target: `group ${name}`, seen: 0n, outcome: "set", compare: [] },
    ops: [{ op: "put", key: ports.keys.group(name), value: groupText(checked.value) }],
  });
  return { notes: groupNotes(new Map([...others, [name, checked.value]])) };
}

/** Groups by name with their members; one whose value is malformed has none. */
export async function listGroups(ports: ObserverPorts): Promise<[string, readonly string[]][]> {
  const kvs = await readAll(ports, ports.keys.groups());
  return kvs.flatMap((kv) => {
    const parsed = ports.keys.parse(kv.key);
    return parsed.kind === "group"
      ? [[parsed.name, parseGroup(kv.value) ?? []] as [string, readonly string[]]]
      : [];
  });
}
