import { EXIT } from "../base/errors.ts";
import { listGroups } from "../work/operate/groups.ts";
import { json, table } from "./table.ts";
import { withStore } from "./with-store.ts";

export const execute = withStore(async ({ flags }, world, connection) => {
  const groups = await listGroups(connection);
  if (flags.json) world.out(json({ groups: Object.fromEntries(groups) }));
  else
    world.out(
      table(
        ["GROUP", "MEMBERS"],
        groups.map(([name, members]) => [name, members.join(" ")]),
      ),
    );
  return EXIT.ok;
});
