import { EXIT } from "../base/errors.ts";
import { listResources } from "../work/operate/resources.ts";
import { json, table } from "./table.ts";
import { withStore } from "./with-store.ts";

export const execute = withStore(async ({ flags }, world, connection) => {
  const resources = await listResources(connection);
  if (flags.json) world.out(json({ resources }));
  else
    world.out(
      table(
        ["RESOURCE", "TOTAL", "NOTE"],
        resources.map((one) => [one.name, one.total, one.note ?? ""]),
      ),
    );
  return EXIT.ok;
});
