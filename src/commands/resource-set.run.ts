import { EXIT, UsageError } from "../base/errors.ts";
import { quoted } from "../base/text.ts";
import { macrosOf } from "../fleet/macros.ts";
import { setResource } from "../work/operate/resources.ts";
import { withStore } from "./with-store.ts";

export const execute = withStore(async ({ args, flags }, _world, connection) => {
  const [name = "", total = ""] = args;
  const { note, order } = flags;
  if (typeof order === "string" && !/^-?\d{1,9}$/.test(order))
    throw new UsageError(`--order: ${quoted(order)} is not a whole number`);
  await setResource(connection, macrosOf(connection.facts), name, {
    total,
    ...(typeof note === "string" && { note }),
    ...(typeof order === "string" && { order: Number(order) }),
  });
  return EXIT.ok;
});
