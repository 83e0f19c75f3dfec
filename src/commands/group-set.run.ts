import { EXIT } from "../base/errors.ts";
import { clean } from "../base/text.ts";
import { setGroup } from "../work/operate/groups.ts";
import { withStore } from "./with-store.ts";

export const execute = withStore(async ({ args }, world, connection) => {
  const [name = "", ...members] = args;
  const { notes } = await setGroup(connection, name, members);
  for (const note of notes) world.err(`signalbox: note: ${clean(note)}\n`);
  return EXIT.ok;
});
