import { compareByResourceOrder } from "../../../fleet/configuration.ts";
import { buildConfiguration, listMalformedConfig } from "../../../model/config-impact/configuration.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { createReadCommand } from "../../read-command.ts";
import { readSnapshot } from "../../read-snapshot.ts";
import { renderTextTable } from "../../table.ts";
import { CONFIG_COLLECTIONS } from "../config-snapshot.ts";

export const execute = createReadCommand(async ({ flags }, io, context) => {
  const snapshot = await readSnapshot(context, CONFIG_COLLECTIONS);
  const resources = [...buildConfiguration(snapshot).resources].sort(compareByResourceOrder);
  const malformed = listMalformedConfig(snapshot).filter(({ kind }) => kind === "resource");
  if (flags.json)
    io.writeOutput(
      formatJsonDocument({
        revision: snapshot.revision,
        resources: resources.map(([name, config]) => ({ name, ...config })),
        malformed: malformed.map(({ name, fault }) => ({ name, fault })),
      }),
    );
  else
    io.writeOutput(
      renderTextTable(
        ["RESOURCE", "TOTAL", "ORDER", "NOTE"],
        [
          ...resources.map(([name, { total = "", order = "", note = "" }]) => [
            name,
            total,
            String(order),
            note,
          ]),
          ...malformed.map(({ name, fault }) => [name, "malformed", "", fault]),
        ],
      ),
    );
});
