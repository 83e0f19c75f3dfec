import { UsageError } from "../../base/errors.ts";
import { groupNotes } from "../../fleet/group-notes.ts";
import { checkedMembers, groupText, parseGroup } from "../../fleet/groups.ts";
import { checkedName } from "../../protocol/names.ts";
import { type AdminPorts, put, readAll } from "./ports.ts";

/**
 * Creates or replaces a group.
 * @returns what an operator should know about the groups as they are now, such as cycles
 * @throws UsageError, StoreError
 */
export async function setGroup(
  ports: AdminPorts,
  name: string,
  members: readonly string[],
): Promise<{ notes: string[] }> {
  checkedName("group", name);
  const checked = checkedMembers(JSON.stringify(members));
  if ("fault" in checked) throw new UsageError(checked.fault);
  const others = await listGroups(ports);
  await put(ports, ports.keys.group(name), groupText(checked.value));
  return { notes: groupNotes(new Map([...others, [name, checked.value]])) };
}

/** Groups by name with their members; one whose value is malformed has none. */
export async function listGroups(ports: AdminPorts): Promise<[string, readonly string[]][]> {
  const kvs = await readAll(ports, ports.keys.groups());
  return kvs.flatMap((kv) => {
    const parsed = ports.keys.parse(kv.key);
    return parsed.kind === "group"
      ? [[parsed.name, parseGroup(kv.value) ?? []] as [string, readonly string[]]]
      : [];
  });
}
