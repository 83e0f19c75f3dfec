import { compareByCodeUnit } from "../../../fleet/configuration.ts";
import { listMalformedConfig } from "../../../model/config-impact/configuration.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { createReadCommand } from "../../read-command.ts";
import { readSnapshot } from "../../read-snapshot.ts";
import { renderTextTable } from "../../table.ts";
import { CONFIG_COLLECTIONS } from "../config-snapshot.ts";

export const execute = createReadCommand(async ({ flags }, io, context) => {
  const snapshot = await readSnapshot(context, CONFIG_COLLECTIONS);
  const groups = [...snapshot.groups].sort(([a], [b]) => compareByCodeUnit(a, b));
  if (flags.json) {
    const malformed = listMalformedConfig(snapshot).filter(({ kind }) => kind === "group");
    io.writeOutput(
      formatJsonDocument({
        revision: snapshot.revision,
        groups: Object.fromEntries(groups.map(([name, { value }]) => [name, value ?? []])),
        malformed: malformed.map(({ name, fault }) => ({ name, fault })),
      }),
    );
  } else
    io.writeOutput(
      renderTextTable(
        ["GROUP", "MEMBERS"],
        groups.map(([name, { value, fault }]) => [name, value?.join(" ") ?? `malformed: ${fault}`]),
      ),
    );
});
