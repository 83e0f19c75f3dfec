import { EXIT } from "../../base/errors.ts";
import { byOrder } from "../../fleet/configuration.ts";
import { configurationOf, malformedIn } from "../../model/configuring/configuration.ts";
import { pictureOf } from "../look.ts";
import { json, table } from "../table.ts";
import { withStore } from "../with-store.ts";
import { CONFIG_ROOMS } from "./configured.ts";

export const execute = withStore(async ({ flags }, world, desk) => {
  const picture = await pictureOf(desk, CONFIG_ROOMS);
  const resources = [...configurationOf(picture).resources].sort(byOrder);
  const malformed = malformedIn(picture).filter(({ kind }) => kind === "resource");
  if (flags.json)
    world.out(
      json({
        revision: picture.revision,
        resources: resources.map(([name, config]) => ({ name, ...config })),
        malformed: malformed.map(({ name, fault }) => ({ name, fault })),
      }),
    );
  else
    world.out(
      table(
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
  return EXIT.ok;
});
