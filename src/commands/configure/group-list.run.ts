import { EXIT } from "../../base/errors.ts";
import { byCode } from "../../fleet/configuration.ts";
import { malformedIn } from "../../model/configuring/configuration.ts";
import { pictureOf } from "../look.ts";
import { json, table } from "../table.ts";
import { withStore } from "../with-store.ts";
import { CONFIG_ROOMS } from "./configured.ts";

export const execute = withStore(async ({ flags }, world, desk) => {
  const picture = await pictureOf(desk, CONFIG_ROOMS);
  const groups = [...picture.groups].sort(([a], [b]) => byCode(a, b));
  if (flags.json) {
    const malformed = malformedIn(picture).filter(({ kind }) => kind === "group");
    world.out(
      json({
        revision: picture.revision,
        groups: Object.fromEntries(groups.map(([name, { value }]) => [name, value ?? []])),
        malformed: malformed.map(({ name, fault }) => ({ name, fault })),
      }),
    );
  } else
    world.out(
      table(
        ["GROUP", "MEMBERS"],
        groups.map(([name, { value, fault }]) => [name, value?.join(" ") ?? `malformed: ${fault}`]),
      ),
    );
  return EXIT.ok;
});
